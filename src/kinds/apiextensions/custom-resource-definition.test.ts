import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "apiextensions.k8s.io/v1/customresourcedefinitions";
const minimal: JsonObject = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
const rich: JsonObject = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Cluster",
    names: {
      plural: "widgets",
      singular: "widget",
      kind: "Widget",
      listKind: "WidgetList",
      shortNames: ["wd"],
      categories: ["all"],
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { replicas: { type: "integer" } } },
              status: {
                type: "object",
                properties: { replicas: { type: "integer" }, labelSelector: { type: "string" } },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.labelSelector",
          },
        },
        additionalPrinterColumns: [{ name: "Replicas", type: "integer", jsonPath: ".spec.replicas", priority: 1 }],
        selectableFields: [{ jsonPath: ".spec.replicas" }],
      },
      {
        name: "v1beta1",
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: "use v1",
        schema: { openAPIV3Schema: { type: "object" } },
      },
    ],
    conversion: {
      strategy: "Webhook",
      webhook: { clientConfig: { url: "https://convert.example.com/c" }, conversionReviewVersions: ["v1"] },
    },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a CustomResourceDefinition with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "metadata.name",
    "gadgets.example.com",
    ['metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  [
    "spec.group",
    "",
    [
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
      "spec.group: Required value",
    ],
  ],
  [
    "spec.group",
    "Example.com",
    [
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
      "spec.group: Invalid value: \"Example.com\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.group",
    "example",
    [
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ],
  ],
  ["spec.scope", "Galaxy", ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"']],
  [
    "spec.names.plural",
    "Widgets",
    [
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
      "spec.names.plural: Invalid value: \"Widgets\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["spec.names.kind", "", ["spec.names.kind: Required value"]],
  [
    "spec.names.kind",
    "Wid get",
    [
      "spec.names.kind: Invalid value: \"Wid get\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.names.shortNames",
    ["W"],
    [
      "spec.names.shortNames[0]: Invalid value: \"W\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.names.categories",
    ["A"],
    [
      "spec.names.categories[0]: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.names.listKind",
    "Widget",
    ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
  ],
  [
    "spec.versions",
    [],
    [
      "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  ],
  [
    "spec.versions[0].name",
    "V1",
    [
      "spec.versions[0].name: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.version: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.versions[0].schema",
    undefined,
    [
      "spec.versions[0].schema.openAPIV3Schema: Required value",
      'spec.versions[0].selectableFields: Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included',
    ],
  ],
  [
    "spec.versions[1].deprecated",
    false,
    ['spec.versions[1].deprecationWarning: Invalid value: "use v1": can only be set for deprecated versions'],
  ],
  [
    "spec.versions[1].deprecationWarning",
    "a\nb",
    [
      'spec.versions[1].deprecationWarning: Invalid value: "a\\nb": must only contain printable UTF-8 characters; non-printable character found at index 1',
    ],
  ],
  [
    "spec.versions[0].subresources.scale.specReplicasPath",
    "",
    ["spec.versions[0].subresources.scale.specReplicasPath: Required value"],
  ],
  [
    "spec.versions[0].subresources.scale.specReplicasPath",
    ".status.replicas",
    [
      'spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".status.replicas": should be a json path under .spec',
    ],
  ],
  [
    "spec.versions[0].subresources.scale.statusReplicasPath",
    "status",
    [
      'spec.versions[0].subresources.scale.statusReplicasPath: Invalid value: "status": must be a simple json path starting with .',
    ],
  ],
  [
    "spec.versions[0].additionalPrinterColumns[0].type",
    "money",
    [
      'spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "money": must be one of boolean,date,integer,number,string',
    ],
  ],
  [
    "spec.versions[0].additionalPrinterColumns[0].name",
    "",
    ["spec.versions[0].additionalPrinterColumns[0].name: Required value"],
  ],
  [
    "spec.versions[0].additionalPrinterColumns[0].jsonPath",
    "",
    ["spec.versions[0].additionalPrinterColumns[0].JSONPath: Required value"],
  ],
  [
    "spec.conversion.strategy",
    "Magic",
    [
      'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
      "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
      "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
    ],
  ],
  [
    "spec.conversion.strategy",
    "None",
    [
      "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
      "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
    ],
  ],
  [
    "spec.conversion.webhook",
    undefined,
    [
      "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
      "spec.conversion.conversionReviewVersions: Required value",
    ],
  ],
  [
    "spec.conversion.webhook.clientConfig",
    {},
    ["spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required"],
  ],
  [
    "spec.conversion.webhook.conversionReviewVersions",
    [],
    ["spec.conversion.conversionReviewVersions: Required value"],
  ],
  [
    "spec.conversion.webhook.conversionReviewVersions",
    ["v2"],
    ['spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
  ],
])("a CustomResourceDefinition with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.scope", "Namespaced", []],
  ["spec.group", "other.com", ['spec.group: Invalid value: "other.com": field is immutable']],
  ["spec.names.plural", "gadgets", ['spec.names.plural: Invalid value: "gadgets": field is immutable']],
  ["spec.names.kind", "Gadget", []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
