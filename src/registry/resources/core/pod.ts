import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../default-strategy.ts";
import type { DeleteOptions, Strategy } from "../../strategy.ts";
import { validatePod } from "../../validation/pod.ts";
import { validateEphemeralContainersUpdate } from "../../validation/pod-ephemeral-update.ts";
import { validatePodResize } from "../../validation/pod-resize.ts";
import { validatePodStatusUpdate } from "../../validation/pod-status.ts";
import { validatePodUpdate } from "../../validation/pod-update.ts";
import { qosClassOf } from "./pod-qos.ts";

interface Pod extends KubeObject {
  spec?: { nodeName?: string; terminationGracePeriodSeconds?: number; containers?: never[] };
  status?: { phase?: string; qosClass?: string };
}

const gracePeriodSecondsDefault = 30;

export const podStrategy: Strategy = {
  ...defaultStrategy,
  returnsDeletedObject: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate(object: Pod) {
    object.status = { phase: "Pending", qosClass: qosClassOf(object) };
  },
  validate: (pod, old) => validatePod(pod, old),
  validateUpdate: validatePodUpdate,
  gracePeriodSeconds,
};

const writeStatus = statusStrategy(podStrategy);

export const podStatusStrategy: Strategy = {
  ...writeStatus,
  prepareForUpdate(object: Pod, old: Pod, nowMs) {
    writeStatus.prepareForUpdate(object, old, nowMs);
    // Writers from before there were classes of service send none: that does not change it.
    const qosClass = object.status?.qosClass || old.status?.qosClass;
    if (qosClass) object.status = { ...object.status, qosClass };
  },
  validateUpdate: validatePodStatusUpdate,
};

/** `pods/ephemeralcontainers`: adds to `spec.ephemeralContainers` and changes nothing else. */
export const podEphemeralContainersStrategy: Strategy = partOfSpec(
  ["ephemeralContainers"],
  validateEphemeralContainersUpdate,
);

/** `pods/resize`: changes what containers request and are limited to. */
export const podResizeStrategy: Strategy = partOfSpec(["containers", "initContainers", "resources"], (pod, old) =>
  validatePodResize(pod, old, { qosClassOf }),
);

/** A write that takes only these fields of the spec from what it is given, and all else from what is stored. */
function partOfSpec(fields: readonly string[], validateUpdate: Strategy["validateUpdate"]): Strategy {
  return {
    ...podStrategy,
    prepareForUpdate(object, old) {
      const { managedFields, resourceVersion } = object.metadata;
      const given = (object["spec"] ?? {}) as JsonObject;
      const spec = { ...(old["spec"] as JsonObject) };
      for (const name of fields) {
        if (given[name] === undefined) delete spec[name];
        else spec[name] = given[name];
      }
      object.metadata = { ...old.metadata };
      if (managedFields !== undefined) object.metadata.managedFields = managedFields;
      if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
      object["spec"] = spec;
    },
    validateUpdate,
  };
}

/** The node agent needs time to stop containers; a pod that no node runs needs none. */
function gracePeriodSeconds(pod: Pod, options: DeleteOptions): number {
  const asked = options.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? gracePeriodSecondsDefault;
  const phase = pod.status?.phase;
  if ((pod.spec?.nodeName ?? "") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  return asked < 0 ? 1 : asked;
}
