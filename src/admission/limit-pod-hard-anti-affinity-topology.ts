import type { Pod } from "../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite, refuse } from "./attributes.ts";

const hostname = "kubernetes.io/hostname";

/** Rejects pods that exclude others from more than their node, such as from a zone or the whole cluster. */
export function limitPodHardAntiAffinityTopology(): AdmissionPlugin {
  return {
    name: "LimitPodHardAntiAffinityTopology",
    validate(attributes) {
      if (!isObjectWrite(attributes, { group: "", resource: "pods" })) return;
      const { affinity = {} } = (attributes.object as Pod).spec ?? {};
      const { podAntiAffinity = {} } = affinity as { podAntiAffinity?: AntiAffinity };
      for (const { topologyKey = "" } of podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
        if (topologyKey === hostname) continue;
        throw refuse(
          attributes,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${hostname} is allowed`,
        );
      }
    },
  };
}

type AntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution?: { topologyKey?: string }[] };
