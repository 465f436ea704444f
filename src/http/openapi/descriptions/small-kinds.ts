import type { TypeDescriptions } from "../../../registry/kind.ts";

export const smallKindDescriptions: Readonly<Record<string, TypeDescriptions>> = {
  "core/v1.Namespace": { "": "A scope for names: most objects live in one." },
  "core/v1.NamespaceSpec": {
    "": "The wanted state of a namespace.",
    finalizers: "Who has to act before the namespace may go.",
  },
  "core/v1.NamespaceStatus": {
    "": "The observed state of a namespace.",
    phase: "Active, or Terminating while its content is being removed.",
    conditions: "What stands in the way of its removal, if anything.",
  },
  "core/v1.ConfigMap": {
    "": "Configuration that pods read as files, variables or arguments.",
    data: "Text by key. A key is made of letters, digits, '-', '_' and '.'.",
    binaryData: "Bytes by key, in base64. No key may also be in data.",
    immutable: "When true, the data can no longer change.",
  },
  "core/v1.Secret": {
    "": "A small amount of confidential data.",
    data: "Bytes by key, in base64.",
    stringData: "Text by key, for writing only: it is moved to data.",
    type: "What the secret is for; some types require certain keys.",
    immutable: "When true, the data can no longer change.",
  },
  "core/v1.ServiceAccount": {
    "": "An identity for programs, which pods run under.",
    secrets: "Secrets that pods under this account may use.",
    imagePullSecrets: "Secrets for pulling the images of pods under this account.",
    automountServiceAccountToken: "Whether pods get a token of the account; a pod can say otherwise.",
  },
  "core/v1.ObjectReference": {
    "": "Points at an object.",
    apiVersion: "API version of the object.",
    kind: "Kind of the object.",
    name: "Name of the object.",
    namespace: "Namespace of the object.",
    uid: "UID of the object.",
    resourceVersion: "The version of the object that is meant.",
    fieldPath: "A part of the object, such as spec.containers{name}.",
  },
  "core/v1.LocalObjectReference": { "": "Points at an object in the same namespace.", name: "Name of the object." },
};
