import { expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import type { JsonObject } from "../json.ts";
import { decodeTyped } from "./decode.ts";

const scheme = Scheme.builtIn();
const cannot = (what: string) => `json: cannot unmarshal ${what}`;

test.each<[why: string, type: string, document: JsonObject, message: string]>([
  [
    "the first value of a wrong type in the document is reported",
    "core/v1.ConfigMap",
    { data: { a: 1 }, metadata: { name: 2 } },
    cannot("number into Go struct field ConfigMap.data of type string"),
  ],
  [
    "a time that is none goes before it",
    "core/v1.ConfigMap",
    { data: { a: 1 }, metadata: { creationTimestamp: "x" } },
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  [
    "so does a number that does not fit a type that decodes itself",
    "core/v1.Container",
    { name: 1, livenessProbe: { tcpSocket: { port: 2 ** 40 } } },
    cannot(
      "number 1099511627776 into Go struct field TCPSocketAction.livenessProbe.ProbeHandler.tcpSocket.port of type int32",
    ),
  ],
  [
    "base64 does not",
    "core/v1.Secret",
    { metadata: { name: 1 }, data: { a: "*" } },
    cannot("number into Go struct field ObjectMeta.metadata.name of type string"),
  ],
  [
    "embedded structs are named one by one",
    "admissionregistration/v1.NamedRuleWithOperations",
    { apiGroups: {} },
    cannot("object into Go struct field NamedRuleWithOperations.RuleWithOperations.Rule.apiGroups of type []string"),
  ],
  [
    "also around a struct",
    "core/v1.Volume",
    { projected: { sources: [{ secret: { name: 5 } }] } },
    cannot(
      "number into Go struct field SecretProjection.VolumeSource.projected.sources.secret.LocalObjectReference.name of type string",
    ),
  ],
  [
    "a type within another type names its own type",
    "apps/v1.StatefulSetSpec",
    { volumeClaimTemplates: [{ kind: 5 }] },
    cannot("number into Go struct field PersistentVolumeClaim.volumeClaimTemplates.TypeMeta.kind of type string"),
  ],
  [
    "named types have their names",
    "core/v1.PodStatus",
    { qosClass: 1 },
    cannot("number into Go struct field PodStatus.qosClass of type v1.PodQOSClass"),
  ],
  [
    "maps and lists too",
    "core/v1.ResourceRequirements",
    { limits: [] },
    cannot("array into Go struct field ResourceRequirements.limits of type v1.ResourceList"),
  ],
  [
    "keys of a named type are named",
    "resource/v1.Device",
    { capacity: [] },
    cannot("array into Go struct field Device.capacity of type map[v1.QualifiedName]v1.DeviceCapacity"),
  ],
  [
    "a schema in a schema has the whole place",
    "apiextensions/v1.CustomResourceValidation",
    { openAPIV3Schema: { type: 1, items: { type: 5 } } },
    cannot("number into Go struct field JSONSchemaProps.openAPIV3Schema.items.type of type string"),
  ],
])("%s", (_why, type, document, message) => {
  expect(() => decodeTyped(scheme.typeSchema(type), document, { kind: "X" })).toThrow(message);
});
