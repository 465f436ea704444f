import type { KubeObject } from "../../../api/object-meta.ts";
import { defaultStrategy } from "../../default-strategy.ts";
import type { DeleteOptions, Strategy } from "../../strategy.ts";
import { validatePod } from "../../validation/pod.ts";
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
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  gracePeriodSeconds,
};

/** The node agent needs time to stop containers; a pod that no node runs needs none. */
function gracePeriodSeconds(pod: Pod, options: DeleteOptions): number {
  const asked = options.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? gracePeriodSecondsDefault;
  const phase = pod.status?.phase;
  if ((pod.spec?.nodeName ?? "") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  return asked < 0 ? 1 : asked;
}
