import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated } from "../testing.ts";

const path = "certificates.k8s.io/v1/certificatesigningrequests";
const pem =
  "-----BEGIN CERTIFICATE REQUEST-----\n" +
  "MIGOMEICAQAwDzENMAsGA1UEAwwEamFuZTAqMAUGAytlcAMhADRAShCeL9hS6uoqouwd3ArxsK1qABSjZa/2O7ON1TyJoAAw" +
  "BQYDK2VwA0EAdJbZP07YVRJXihK9zTh4J17oQEe8zJnqBzd648KIlMnr9tn4CEZjPKrDVe5gyajhtm0y45+y3x1cKXwKr28o" +
  "AQ==" +
  "\n-----END CERTIFICATE REQUEST-----\n";
const request: JsonObject = {
  spec: {
    request: Buffer.from(pem).toString("base64"),
    signerName: "example.com/clients",
    usages: ["client auth", "digital signature"],
    expirationSeconds: 3600,
  },
};

test("a request is recorded with its real user, whatever user it impersonates", async () => {
  const { spec, status } = await created(path, changed(request, "spec.username", "somebody-else"));
  expect(spec).toMatchObject({ username: "system:apiserver", groups: ["system:masters", "system:authenticated"] });
  expect(status ?? {}).toEqual({});
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.request", "eA==", ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST']],
  ["spec.usages", [], ["spec.usages: Required value"]],
  ["spec.usages", ["client auth", "client auth"], ['spec.usages[1]: Duplicate value: "client auth"']],
  [
    "spec.signerName",
    "clients",
    [
      "spec.signerName: Invalid value: \"clients\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
    ],
  ],
  [
    "spec.signerName",
    "kubernetes.io/legacy-unknown",
    [
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
  ],
  [
    "spec.expirationSeconds",
    599,
    ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
  ],
])("a CertificateSigningRequest with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(request, field, value))).toEqual(causes);
});

test("an unknown usage is answered with the list of all usages", async () => {
  const [cause] = await refusal(path, changed(request, "spec.usages", ["fly"]));
  expect(cause).toStartWith(
    'spec.usages[0]: Unsupported value: "fly": supported values: "any", "cert sign", "client auth"',
  );
});

test("the request cannot change, and cannot contain a decision", async () => {
  const asked = { ...changed(request, "spec.usages", ["server auth"]), status: { conditions: [{ type: "Approved" }] } };
  const stored = await updated(path, request, asked);
  expect(stored["spec"]).toMatchObject({ usages: ["client auth", "digital signature"] });
  expect(stored["status"] ?? {}).toEqual({});
});
