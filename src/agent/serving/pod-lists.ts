import type { Pod } from "../../api/types/core-v1.ts";
import type { Reply } from "../../request/exchange.ts";
import type { PodDirectory } from "../pods/pod-directory.ts";
import { jsonReply } from "./json-reply.ts";

/** Returns the pods of a node; those of all nodes if the name is "". */
export function podsOf(directory: PodDirectory, nodeName: string): readonly Pod[] {
  const pods = directory.pods();
  return nodeName === "" ? pods : pods.filter(({ spec }) => spec?.nodeName === nodeName);
}

/** Answers `/pods`: the pods as the agent knows them. */
export function podList(directory: PodDirectory, nodeName: string): Reply {
  return listReply(podsOf(directory, nodeName));
}

/** Answers `/runningpods`: what the runtime runs, of which little more is known than its names. */
export function runningPodList(directory: PodDirectory, nodeName: string): Reply {
  const running: object[] = [];
  for (const { metadata } of podsOf(directory, nodeName)) {
    const { name = "", namespace = "", uid = "" } = metadata;
    const containers =
      directory.find(namespace, name)?.containers.filter(({ state }) => state.kind === "running") ?? [];
    if (containers.length === 0) continue;
    running.push({
      metadata: { name, namespace, uid },
      spec: { containers: containers.map((one) => ({ name: one.name, image: one.image, resources: {} })) },
      status: {},
    });
  }
  return listReply(running);
}

function listReply(items: readonly object[]): Reply {
  return jsonReply({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
}
