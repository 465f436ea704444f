import type { Reply } from "../../request/exchange.ts";
import type { KnownPod, PodDirectory } from "../pods/pod-directory.ts";
import { jsonReply } from "./json-reply.ts";

/** Returns the pods of a node; those of all nodes if the name is "". */
export function podsOf(directory: PodDirectory, nodeName: string): readonly KnownPod[] {
  const pods = directory.pods();
  return nodeName === "" ? pods : pods.filter(({ pod }) => pod.spec?.nodeName === nodeName);
}

/** Answers `/pods`: the pods as the agent knows them. */
export function podList(directory: PodDirectory, nodeName: string): Reply {
  return listReply(podsOf(directory, nodeName).map(({ pod }) => pod));
}

/** Answers `/runningpods`: what the runtime runs, of which little more is known than its names. */
export function runningPodList(directory: PodDirectory, nodeName: string): Reply {
  const running: object[] = [];
  for (const { pod, containers } of podsOf(directory, nodeName)) {
    const { name = "", namespace = "", uid = "" } = pod.metadata;
    const ofPod = containers.filter(({ state }) => state.kind === "running");
    if (ofPod.length === 0) continue;
    running.push({
      metadata: { name, namespace, uid },
      spec: { containers: ofPod.map((one) => ({ name: one.name, image: one.image, resources: {} })) },
      status: {},
    });
  }
  return listReply(running);
}

function listReply(items: readonly object[]): Reply {
  return jsonReply({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
}
