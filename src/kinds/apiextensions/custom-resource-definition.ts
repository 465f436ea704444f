import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from "../../api/types/apiextensions-v1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  definitionNameProblems,
  validateDefinition,
  validateDefinitionStatus,
} from "./validation/custom-resource-definition.ts";
import { formatWarnings } from "./validation/format-warnings.ts";

const definitionRules = {
  metaRules: "update",
  coversSchema: true,
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  generationFields: ["spec"],
} as const;

const customResourceDefinitionStrategy: Strategy<CustomResourceDefinition> = {
  ...defaultStrategy,
  ...definitionRules,
  resetFields: ["status"],
  validateName: definitionNameProblems,
  prepareForCreate: recordStorageVersion,
  prepareForUpdate: recordStorageVersion,
  validateInTurns: validateDefinition,
  warnings: formatWarnings,
  markDeletion,
  readsBeforeDelete: true,
};

const customResourceDefinitionStatusStrategy: Strategy<CustomResourceDefinition> = {
  ...statusStrategy({ ...defaultStrategy, ...definitionRules }, { keepsMetadata: true }),
  validate: validateDefinitionStatus,
};

export const customResourceDefinition = builtInKind("customresourcedefinitions.apiextensions.k8s.io", {
  endpoint: stored(customResourceDefinitionStrategy),
  defaults: {
    "apiextensions/v1.CustomResourceDefinition": defaultCustomResourceDefinition,
  },
  subresources: {
    status: subresource(customResourceDefinitionStatusStrategy),
  },
  descriptions: {
    "apiextensions/v1.CustomResourceDefinition": { "": "Adds a kind to the API; its name is <plural>.<group>." },
    "apiextensions/v1.CustomResourceDefinitionSpec": {
      "": "The new kind.",
      group: "Its API group.",
      names: "Names of the resource and the kind.",
      scope: "Cluster or Namespaced.",
      versions: "Its versions, each with a schema.",
      conversion: "Conversion between versions.",
      preserveUnknownFields: "No longer used; has to be false.",
    },
    "apiextensions/v1.CustomResourceDefinitionStatus": {
      "": "The observed state.",
      acceptedNames: "The names that it has got.",
      storedVersions: "Versions of which there may be objects in the store.",
    },
    "apiextensions/v1.JSON": { "": "Any JSON value." },
    "apiextensions/v1.JSONSchemaPropsOrArray": { "": "A schema, or a list of schemas." },
    "apiextensions/v1.JSONSchemaPropsOrBool": { "": "A schema, or whether anything is allowed." },
    "apiextensions/v1.JSONSchemaPropsOrStringArray": { "": "A schema, or a list of names." },
  },
});

/** The status of a definition that has none. */
export const emptyStatus: CustomResourceDefinitionStatus = {
  conditions: null,
  acceptedNames: { plural: "", kind: "" },
  storedVersions: null,
};

/** Holds a definition until all of its instances are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** The deletion options of the client have no effect on a definition. */
function markDeletion(definition: CustomResourceDefinition, now: string): void {
  const { metadata, status } = definition;
  metadata.deletionTimestamp = now;
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), cleanupFinalizer])];
  const pending: CustomResourceDefinitionCondition = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: now,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Terminating");
  definition.status = { ...(status ?? emptyStatus), conditions: [...others, pending] };
}

/** Adds the storage version to those in which objects may be stored. */
function recordStorageVersion(definition: CustomResourceDefinition): void {
  const { spec, status = emptyStatus } = definition;
  const stored = status.storedVersions ?? [];
  const version = (spec.versions ?? []).find(({ storage }) => storage);
  if (version === undefined) return;
  const { name = "" } = version;
  if (!stored.includes(name)) definition.status = { ...status, storedVersions: [...stored, name] };
}

function defaultCustomResourceDefinition(definition: CustomResourceDefinition): void {
  const { names } = definition.spec;
  if (names.kind !== "") {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  definition.spec.conversion ??= { strategy: "None" };
  if ((definition.status?.storedVersions ?? []).length === 0) recordStorageVersion(definition);
}
