import { expect, test } from "bun:test";
import { status } from "../../api/status.ts";
import type { Secret } from "../../api/types/core-v1.ts";
import { imageCredentials } from "./image-credentials.ts";
import { viewOf } from "./testing.ts";

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const secrets: Record<string, Pick<Secret, "type" | "data">> = {
  new: {
    type: "kubernetes.io/dockerconfigjson",
    data: {
      ".dockerconfigjson": encoded({
        auths: {
          "https://index.docker.io/v1/": { auth: "hub" },
          "registry.example:5000": { username: "u", password: "p" },
          "registry.example:5000/team": { auth: "team" },
        },
      }),
    },
  },
  old: { type: "kubernetes.io/dockercfg", data: { ".dockercfg": encoded({ "old.example": { auth: "old" } }) } },
  broken: { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "bm90IGpzb24=" } },
};
const warnings: string[] = [];
const client = {
  get: async (_type: unknown, { name }: { name: string }) => {
    const found = secrets[name];
    if (found === undefined) throw status.notFound({ group: "", resource: "secrets", name });
    return found;
  },
};
const find = imageCredentials(client as never, (_pod, { message }) => void warnings.push(message));
const credential = (image: string, ...names: string[]) =>
  find(viewOf({ spec: { imagePullSecrets: names.map((name) => ({ name })) } }).pod, image);

test.each([
  ["nginx", "hub"],
  ["docker.io/team/app:1", "hub"],
  ["registry.example:5000/app:1", "dTpw"],
  ["registry.example:5000/team/app@sha256:1", "team"],
  ["registry.example:5000/teams/app", "dTpw"],
  ["old.example/app", "old"],
  ["elsewhere.example/app", undefined],
])("the credential for %s is %s", async (image, expected) => {
  expect(await credential(image, "new", "broken", "old")).toBe(expected as never);
});

test("a pod that names a secret which is missing may still pull", async () => {
  expect(await credential("old.example/app", "missing", "old", "absent")).toBe("old");
  expect(warnings).toEqual([
    "Unable to retrieve some image pull secrets (missing, absent); attempting to pull the image may not succeed.",
  ]);
});
