import type { Container, PodSpec, SecurityContext } from "../../api/types/core-v1.ts";
import { containersOf } from "../pod.ts";

/** A reason why a pod violates a level. Texts are upstream's, because clients see them in rejections and warnings. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** The checked parts of a pod or of a pod template. */
export interface PodView {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

export type PodCheck = (pod: PodView) => Violation | undefined;

/** Formats `container "a"` or `containers "a", "b"`. */
export function containerText(names: readonly string[]): string {
  return `${plural(names.length, "container")} ${quoted(names)}`;
}

export function quoted(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(", ");
}

export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

/** Returns the distinct texts in order. */
export function sorted(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort();
}

/** Returns the names of the containers of all kinds that satisfy the condition. */
export function containersWith({ spec }: PodView, isSo: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(isSo)
    .map(({ name }) => name);
}

/** Returns a container's security context, or an empty one. */
export function securityOf({ securityContext }: Container): SecurityContext {
  return securityContext ?? {};
}

/** Formats the places of a setting: `pod`, `container "a"`, or both joined by "and". */
export function settersText(pod: boolean, containers: readonly string[]): string {
  return [...(pod ? ["pod"] : []), ...(containers.length === 0 ? [] : [containerText(containers)])].join(" and ");
}
