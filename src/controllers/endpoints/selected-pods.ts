import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { TurnSlice } from "../turn-slice.ts";
import { type EndpointPod, endpointPodOf } from "./endpoint-pod.ts";
import type { Labels } from "./service-selectors.ts";

/** Pods that are examined between two looks at the time. */
const podsPerLook = 256;

/** Returns the pods of a namespace that have these labels and can be endpoints, in the order of their names. */
export async function selectedPods(
  { info }: Registry,
  store: Store,
  namespace: string,
  selector: Labels,
  slice: TurnSlice,
): Promise<EndpointPod[]> {
  const wanted = Object.entries(selector);
  const pods: EndpointPod[] = [];
  let looks = 0;
  for (const entry of store.scan(`${info.keyPrefix}${namespace}/`)) {
    if (++looks % podsPerLook === 0) await slice.turn();
    const { labels } = entry.index;
    if (!wanted.every(([key, value]) => labels?.[key] === value)) continue;
    const pod = endpointPodOf(entry);
    if (pod !== undefined) pods.push(pod);
  }
  return pods;
}
