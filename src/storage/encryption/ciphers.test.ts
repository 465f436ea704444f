import { expect, test } from "bun:test";
import vectors from "../../../test/fixtures/encrypted-values.json";
import { parseEncryptionConfiguration } from "./encryption-configuration.ts";
import { ResourceTransformers } from "./resource-transformers.ts";
import type { Transformer } from "./transformer.ts";

function transformerOf(provider: string, secret: string): Transformer {
  const resources = [{ resources: ["secrets"], providers: [{ [provider]: { keys: [{ name: "key1", secret }] } }] }];
  const file = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration", resources };
  const configuration = parseEncryptionConfiguration(Buffer.from(JSON.stringify(file)));
  const rule = new ResourceTransformers(configuration).of({ group: "", resource: "secrets" });
  return (rule as { transformer: Transformer }).transformer;
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "base64");

test.each(vectors.map((vector, at) => [`${at}: ${vector.provider}`, vector] as const))(
  "a value that kube-apiserver encrypted is opened, and one that we encrypt: %s",
  (_name, { provider, secret, key, plain, stored }) => {
    const transformer = transformerOf(provider, secret);
    const context = { key, resource: "secrets" };
    expect(Buffer.from(transformer.fromStorage(bytesOf(stored), context).plain)).toEqual(Buffer.from(plain, "base64"));

    const ours = transformer.toStorage(bytesOf(plain), context);
    expect(ours.length).toBe(bytesOf(stored).length);
    expect(Buffer.from(ours).toString("latin1")).toStartWith(`k8s:enc:${provider}:v1:key1:`);
    expect(Buffer.from(transformer.fromStorage(ours, context).plain)).toEqual(Buffer.from(plain, "base64"));
    expect(Buffer.from(transformer.toStorage(bytesOf(plain), context))).not.toEqual(Buffer.from(ours));
  },
);

test.each([
  ["aesgcm", "cipher: message authentication failed"],
  ["secretbox", "output array was not large enough for encryption"],
])("%s refuses a value in which a bit is flipped", (provider, message) => {
  for (const vector of vectors.filter((each) => each.provider === provider)) {
    const stored = Buffer.from(vector.stored, "base64");
    stored[stored.length - 1] = (stored.at(-1) as number) ^ 1;
    const transformer = transformerOf(provider, vector.secret);
    expect(() => transformer.fromStorage(stored, { key: vector.key, resource: "secrets" })).toThrow(message);
  }
});

test("aesgcm refuses a value under another key of the store", () => {
  const [vector] = vectors.filter(({ provider }) => provider === "aesgcm");
  const { secret, stored } = vector as (typeof vectors)[number];
  const context = { key: "/registry/secrets/default/other", resource: "secrets" };
  expect(() => transformerOf("aesgcm", secret).fromStorage(bytesOf(stored), context)).toThrow(
    "cipher: message authentication failed",
  );
});

test.each(["aesgcm", "aescbc", "secretbox"])("%s refuses a value of any shorter length", (provider) => {
  const secret = Buffer.alloc(32, 7).toString("base64");
  const transformer = transformerOf(provider, secret);
  const context = { key: "/registry/secrets/default/s", resource: "secrets" };
  const whole = transformer.toStorage(Buffer.from("a value"), context);
  const start = `k8s:enc:${provider}:v1:key1:`.length;
  for (let length = start; length < whole.length; length++) {
    expect(() => transformer.fromStorage(whole.subarray(0, length), context)).toThrow(/^[a-z]/);
  }
});
