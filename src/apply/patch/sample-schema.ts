import type {
  Field,
  ListSchema,
  MapSchema,
  ScalarKind,
  ScalarSchema,
  Schema,
  StructSchema,
} from "../../api/schema/schema.ts";

/** Small schemas by hand, for tests of what walks a schema. */
export const sample = {
  scalar: (kind: ScalarKind = "string"): ScalarSchema => ({ kind: "scalar", scalar: kind }),
  list: (items: Schema): ListSchema => ({ kind: "list", items }),
  map: (values: Schema): MapSchema => ({ kind: "map", values }),
  struct: (name: string, fields: Record<string, Schema | SampleField>, atomic = false): StructSchema => ({
    kind: "struct",
    name,
    fields: new Map(Object.entries(fields).map(([field, of]) => [field, fieldOf(field, of)])),
    atomic,
    preserveUnknown: false,
    protoInline: new Map(),
  }),
} as const;

type SampleField = Partial<Field> & { readonly schema: Schema };

function fieldOf(name: string, of: Schema | SampleField): Field {
  return {
    name,
    number: 0,
    protoInlined: false,
    pointer: false,
    omitEmpty: true,
    omitZero: false,
    required: false,
    patchStrategy: [],
    patchMergeKey: undefined,
    listType: "atomic",
    listMapKeys: [],
    mapType: "granular",
    default: undefined,
    immutable: false,
    gates: [],
    ...("schema" in of ? of : { schema: of }),
  };
}

const text = sample.scalar();
const textMap = sample.map(text);

const port = sample.struct("Port", {
  containerPort: sample.scalar("int32"),
  protocol: { schema: text, default: "TCP" },
  name: text,
});
const env = sample.struct("EnvVar", { name: text, value: text });
const container = sample.struct("Container", {
  name: text,
  image: text,
  command: sample.list(text),
  env: {
    schema: sample.list(env),
    patchStrategy: ["merge"],
    patchMergeKey: "name",
    listType: "map",
    listMapKeys: ["name"],
  },
  ports: {
    schema: sample.list(port),
    patchStrategy: ["merge"],
    patchMergeKey: "containerPort",
    listType: "map",
    listMapKeys: ["containerPort", "protocol"],
  },
});
const volume = sample.struct("Volume", {
  name: text,
  emptyDir: sample.struct("EmptyDir", { medium: text }),
  secret: text,
});
const selector = sample.struct("Selector", { matchLabels: textMap }, true);
const template = sample.struct("Spec", {
  nodeName: text,
  hostNetwork: sample.scalar("bool"),
  containers: {
    schema: sample.list(container),
    patchStrategy: ["merge"],
    patchMergeKey: "name",
    listType: "map",
    listMapKeys: ["name"],
  },
  volumes: {
    schema: sample.list(volume),
    patchStrategy: ["merge", "retainKeys"],
    patchMergeKey: "name",
    listType: "map",
    listMapKeys: ["name"],
  },
  strategy: { schema: sample.struct("Strategy", { type: text, rolling: textMap }), patchStrategy: ["retainKeys"] },
  nodeSelector: { schema: textMap, mapType: "atomic" },
  tolerations: { schema: sample.list(sample.struct("Toleration", { key: text })) },
  selector,
  overhead: textMap,
});
const meta = sample.struct("ObjectMeta", {
  name: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: sample.scalar("int64"),
  creationTimestamp: sample.scalar("time"),
  labels: textMap,
  annotations: textMap,
  finalizers: { schema: sample.list(text), patchStrategy: ["merge"], listType: "set" },
  ownerReferences: {
    schema: sample.list(sample.struct("OwnerReference", { uid: text, name: text, kind: text, apiVersion: text }, true)),
    patchStrategy: ["merge"],
    patchMergeKey: "uid",
    listType: "map",
    listMapKeys: ["uid"],
  },
  managedFields: { schema: sample.list(sample.scalar("any")) },
});

/** A pod in small. */
export const samplePodSchema = sample.struct("test/v1.Pod", {
  apiVersion: text,
  kind: text,
  metadata: meta,
  spec: template,
  status: sample.struct("Status", { phase: text, podIP: text }),
});
