import { defaultServiceAccount } from "../admission/service-account.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { NamespaceObjects, type NamespaceObjectsParts } from "./namespace-objects.ts";

/** The account that pods of a namespace run under when they name none. Clients may change it as they like. */
export function defaultServiceAccounts(parts: Omit<NamespaceObjectsParts, "name" | "wanted">): NamespaceObjects {
  return new NamespaceObjects({
    ...parts,
    name: defaultServiceAccount,
    wanted: (namespace, current) => current ?? accountOf(namespace),
  });
}

function accountOf(namespace: string): KubeObject {
  return { kind: "ServiceAccount", apiVersion: "v1", metadata: { name: defaultServiceAccount, namespace } };
}
