import { defaultServiceAccount } from "../admission/service-account.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { NamespaceObjects, type NamespaceObjectsParts } from "./namespace-objects.ts";

/** Maintains the default service account of each namespace. Clients may change it. */
export function defaultServiceAccounts(
  parts: Omit<NamespaceObjectsParts, "name" | "queueName" | "wanted">,
): NamespaceObjects {
  return new NamespaceObjects({
    ...parts,
    name: defaultServiceAccount,
    queueName: "serviceaccount",
    wanted: (namespace, current) => current ?? accountOf(namespace),
  });
}

function accountOf(namespace: string): KubeObject {
  return { kind: "ServiceAccount", apiVersion: "v1", metadata: { name: defaultServiceAccount, namespace } };
}
