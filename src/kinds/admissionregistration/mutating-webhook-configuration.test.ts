import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const minimal: JsonObject = {};
const rich: JsonObject = {
  webhooks: [
    {
      name: "a.example.com",
      clientConfig: { url: "https://hooks.example.com/a" },
      sideEffects: "NoneOnDryRun",
      admissionReviewVersions: ["v1"],
      reinvocationPolicy: "IfNeeded",
    },
  ],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a MutatingWebhookConfiguration with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "webhooks[0].reinvocationPolicy",
    "Always",
    ['webhooks[0].reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"'],
  ],
  [
    "webhooks[0].sideEffects",
    "Unknown",
    ['webhooks[0].sideEffects: Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"'],
  ],
  [
    "webhooks[0].clientConfig.url",
    "ftp://x",
    [
      "webhooks[0].clientConfig.url: Invalid value: \"ftp\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
    ],
  ],
  [
    "webhooks[0].clientConfig.url",
    "::g",
    [
      'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "::g": missing protocol scheme; desired format: https://host[/path]',
    ],
  ],
  [
    "webhooks[0].clientConfig.url",
    "https://",
    ['webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]'],
  ],
  [
    "webhooks[0].admissionReviewVersions",
    undefined,
    ["webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
  ],
  [
    "webhooks[0].objectSelector",
    { matchExpressions: [{ key: "", operator: "Exists" }] },
    [
      'webhooks[0].objectSelector.matchExpressions[0].key: Invalid value: "": name part must be non-empty',
      "webhooks[0].objectSelector.matchExpressions[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
])("a MutatingWebhookConfiguration with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
