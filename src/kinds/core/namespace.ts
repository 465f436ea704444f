import type { Cells } from "../../api/codec/table/table-rules.ts";
import { emptyMap } from "../../api/json.ts";
import type { Namespace } from "../../api/types/core-v1.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import { namespaceFinalizer, namespaceNameLabel } from "../../api/vendor.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateNamespace,
  validateNamespaceFinalizers,
  validateNamespaceStatusUpdate,
} from "./validation/namespace.ts";

/** A namespace is removed after its content: the controller that deletes the content empties `spec.finalizers`. */
const namespaceStrategy: Strategy<Namespace> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  defaultsAgain: true,
  resetFields: ["status"],
  validateName: dnsLabelProblems,
  prepareForCreate(object) {
    object.status = { phase: "Active" };
    const finalizers = object.spec?.finalizers ?? [];
    if (!finalizers.includes(namespaceFinalizer)) object.spec = { finalizers: [...finalizers, namespaceFinalizer] };
  },
  prepareForUpdate(object, old) {
    object.spec = { ...object.spec, finalizers: old.spec?.finalizers ?? [] };
    if (object.spec.finalizers?.length === 0) delete object.spec.finalizers;
  },
  validate: validateNamespace,
  holdsDeletion: hasSpecFinalizers,
  readsBeforeDelete: true,
  prepareForDelete(object) {
    delete object.metadata.deletionGracePeriodSeconds;
    object.status = { ...object.status, phase: "Terminating" };
  },
};

/** `namespaces/finalize`: replaces `spec.finalizers`, which no other path does. */
const namespaceFinalizeStrategy: Strategy<Namespace> = {
  ...namespaceStrategy,
  metaRules: "update",
  prepareForUpdate(object, old) {
    const finalizers = object.spec?.finalizers;
    object.spec = finalizers === undefined ? {} : { finalizers };
    if (old.status !== undefined) object.status = old.status;
  },
  validate: () => [],
  validateUpdate: validateNamespaceFinalizers,
};

const namespaceStatusStrategy: Strategy<Namespace> = {
  ...statusStrategy(namespaceStrategy),
  validateUpdate: validateNamespaceStatusUpdate,
};

export const namespace = builtInKind("namespaces", {
  endpoint: stored(namespaceStrategy),
  table: { cells: namespaceCells },
  defaults: {
    "core/v1.Namespace": defaultNamespace,
  },
  subresources: {
    finalize: subresource(namespaceFinalizeStrategy),
    status: subresource(namespaceStatusStrategy),
  },
  descriptions: {
    "core/v1.Namespace": { "": "A scope for names: most objects live in one." },
    "core/v1.NamespaceSpec": {
      "": "The wanted state of a namespace.",
      finalizers: "Names of controllers that must act before the namespace may go.",
    },
    "core/v1.NamespaceStatus": {
      "": "The observed state of a namespace.",
      phase: "Active, or Terminating while its content is being removed.",
      conditions: "Obstacles to its removal, if any.",
    },
  },
});

function hasSpecFinalizers(object: Namespace): boolean {
  return (object.spec?.finalizers ?? []).length > 0;
}

function namespaceCells({ status }: Namespace): Cells {
  return { Status: status?.phase ?? "" };
}

/** Labels the namespace with its name. A generated name is not known at first, so defaults are applied twice. */
function defaultNamespace(namespace: Namespace): void {
  const { metadata } = namespace;
  if (metadata.name) {
    const labels = metadata.labels ?? emptyMap();
    labels[namespaceNameLabel] = metadata.name;
    metadata.labels = labels;
  }
  namespace.status ??= {};
  namespace.status.phase ??= "Active";
}
