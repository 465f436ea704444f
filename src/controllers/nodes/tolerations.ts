import type { Taint, Toleration } from "../../api/types/core-v1.ts";

/**
 * Returns the number of seconds for which a pod may stay on a node with these taints: 0 for not at all, Infinity for any
 * time, undefined if it does not tolerate them. The first toleration of each taint counts.
 */
export function toleratedSeconds(taints: readonly Taint[], tolerations: readonly Toleration[]): number | undefined {
  let seconds = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const toleration = tolerations.find((one) => tolerates(one, taint));
    if (toleration === undefined) return undefined;
    if (toleration.tolerationSeconds === undefined) continue;
    seconds = Math.min(seconds, Math.max(0, Number(toleration.tolerationSeconds)));
  }
  return seconds;
}

function tolerates({ effect = "", key = "", operator = "", value = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "" || operator === "Equal") return value === (taint.value ?? "");
  // The operators that compare numbers are behind a feature gate which is off by default.
  return operator === "Exists";
}
