import { actionKey } from "../../registry/action.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Connector } from "../handlers/endpoint.ts";
import { podLog } from "./pod-log.ts";
import { podPortForward, podProcess, type SessionParts } from "./pod-session.ts";
import { nodeProxy, podProxy, type ProxyParts, serviceProxy } from "./proxy.ts";

/** Who answers for the subresources that are connections; undefined for all others. */
export function connectors(
  parts: SessionParts & ProxyParts,
): (info: ResourceInfo, subresource: string) => Connector | undefined {
  const byKey: ReadonlyMap<string, Connector> = new Map([
    ["/nodes/proxy", nodeProxy(parts)],
    ["/pods/attach", podProcess(parts, "attach")],
    ["/pods/exec", podProcess(parts, "exec")],
    ["/pods/log", podLog(parts)],
    ["/pods/portforward", podPortForward(parts)],
    ["/pods/proxy", podProxy(parts)],
    ["/services/proxy", serviceProxy(parts)],
  ]);
  return (info, subresource) => byKey.get(actionKey(info, subresource));
}
