import type { FinalObject } from "../history/history.ts";
import type { WriteRequest } from "../history/operation.ts";

export const namespace = "chaos";
export const path = `/api/v1/namespaces/${namespace}/configmaps`;
export const colors = ["red", "green", "blue"] as const;

interface ConfigMap {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Record<string, string>;
  };
  readonly data?: Record<string, string>;
}

export interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ConfigMap[];
}

/** Reads an object, or returns undefined for a foreign one. */
export function observe(object: unknown): FinalObject | undefined {
  const { metadata, data } = object as ConfigMap;
  if (data?.["value"] === undefined) return undefined;
  return {
    key: metadata.name,
    uid: metadata.uid,
    revision: Number(metadata.resourceVersion),
    value: data["value"],
    color: metadata.labels?.["color"] ?? "",
    elements: data["elements"]?.split(" ").filter((element) => element !== "") ?? [],
  };
}

export function observeAll(list: ConfigMapList): FinalObject[] {
  return list.items.flatMap((item) => observe(item) ?? []);
}

/** Returns the body of a write. */
export function bodyOf(key: string, request: WriteRequest, elements?: readonly string[]): unknown {
  if (request.verb === "delete") {
    const { expected } = request;
    return expected === undefined ? undefined : { preconditions: { resourceVersion: String(expected) } };
  }
  const expected = "expected" in request ? { resourceVersion: String(request.expected) } : {};
  return {
    metadata: { ...(request.verb === "patch" ? {} : { name: key }), labels: { color: request.color }, ...expected },
    data: { value: request.value, ...(elements === undefined ? {} : { elements: elements.join(" ") }) },
  };
}
