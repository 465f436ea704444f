import { type Container, containersOf, type PodSpec, type SecurityContext } from "../pod.ts";

/** Why a pod does not meet a level. Texts are upstream's: they reach clients in refusals and warnings. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** The parts of a pod, or of a template of one, that are judged. */
export interface PodView {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

export type PodCheck = (pod: PodView) => Violation | undefined;

/** `container "a"` or `containers "a", "b"`. */
export function containerText(names: readonly string[]): string {
  return `${plural(names.length, "container")} ${quoted(names)}`;
}

export function quoted(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(", ");
}

export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

/** Distinct, in order. */
export function sorted(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort();
}

/** Names of the containers of all kinds that are so. */
export function containersWith({ spec }: PodView, isSo: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(isSo)
    .map(({ name }) => name);
}

/** A container's security context, empty where it has none. */
export function securityOf({ securityContext }: Container): SecurityContext {
  return securityContext ?? {};
}

/** `pod`, `container "a"`, or both joined by "and": who has set something. */
export function settersText(pod: boolean, containers: readonly string[]): string {
  return [...(pod ? ["pod"] : []), ...(containers.length === 0 ? [] : [containerText(containers)])].join(" and ");
}
