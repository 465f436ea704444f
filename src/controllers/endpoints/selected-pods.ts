import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { TurnSlice } from "../turn-slice.ts";
import { type EndpointPod, endpointPodOf } from "./endpoint-pod.ts";
import type { Labels } from "./service-selectors.ts";

/** Number of pods processed between two readings of the clock. */
const podsPerLook = 256;

/** Returns the pods of a namespace with these labels that can be endpoints, ordered by name. */
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
