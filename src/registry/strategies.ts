import type { GroupResource } from "../api/gvk.ts";
import { defaultStrategy, statusStrategy } from "./default-strategy.ts";
import { leaseStrategy } from "./resources/coordination/lease.ts";
import { configMapStrategy } from "./resources/core/config-map.ts";
import { eventStrategy } from "./resources/core/event.ts";
import { namespaceFinalizeStrategy, namespaceStrategy } from "./resources/core/namespace.ts";
import { nodeStrategy } from "./resources/core/node.ts";
import { podStrategy } from "./resources/core/pod.ts";
import { secretStrategy } from "./resources/core/secret.ts";
import { serviceAccountStrategy } from "./resources/core/service-account.ts";
import { endpointSliceStrategy } from "./resources/discovery/endpoint-slice.ts";
import { ingressClassStrategy } from "./resources/networking/ingress-class.ts";
import { ingressStatusStrategy, ingressStrategy } from "./resources/networking/ingress.ts";
import { ipAddressStrategy } from "./resources/networking/ip-address.ts";
import { networkPolicyStrategy } from "./resources/networking/network-policy.ts";
import { serviceCidrStrategy } from "./resources/networking/service-cidr.ts";
import { clusterRoleBindingStrategy, roleBindingStrategy } from "./resources/rbac/role-binding.ts";
import { clusterRoleStrategy, roleStrategy } from "./resources/rbac/role.ts";
import type { Strategy } from "./strategy.ts";

/** Resources with rules of their own, and their subresources that write the object. All others follow the default. */
const strategies: Readonly<Record<string, Strategy>> = {
  "/configmaps": configMapStrategy,
  "/events": eventStrategy,
  "/namespaces": namespaceStrategy,
  "/namespaces/finalize": namespaceFinalizeStrategy,
  "/nodes": nodeStrategy,
  "/pods": podStrategy,
  "/secrets": secretStrategy,
  "/serviceaccounts": serviceAccountStrategy,
  "coordination.k8s.io/leases": leaseStrategy,
  "discovery.k8s.io/endpointslices": endpointSliceStrategy,
  "networking.k8s.io/ingressclasses": ingressClassStrategy,
  "networking.k8s.io/ingresses": ingressStrategy,
  "networking.k8s.io/ingresses/status": ingressStatusStrategy,
  "networking.k8s.io/ipaddresses": ipAddressStrategy,
  "networking.k8s.io/networkpolicies": networkPolicyStrategy,
  "networking.k8s.io/servicecidrs": serviceCidrStrategy,
  "rbac.authorization.k8s.io/clusterrolebindings": clusterRoleBindingStrategy,
  "rbac.authorization.k8s.io/clusterroles": clusterRoleStrategy,
  "rbac.authorization.k8s.io/rolebindings": roleBindingStrategy,
  "rbac.authorization.k8s.io/roles": roleStrategy,
};

export function strategyOf({ group, resource }: GroupResource): Strategy {
  return strategies[`${group}/${resource}`] ?? defaultStrategy;
}

/** Rules of a write through a subresource; undefined when it is not served. */
export function subresourceStrategyOf(resource: GroupResource, subresource: string): Strategy | undefined {
  const own = strategies[`${resource.group}/${resource.resource}/${subresource}`];
  if (own !== undefined) return own;
  return subresource === "status" ? statusStrategy(strategyOf(resource)) : undefined;
}
