import type { Connections } from "../../registry/endpoint.ts";
import { podLog } from "./pod-log.ts";
import { podPortForward, podProcess, type SessionParts } from "./pod-session.ts";
import { nodeProxy, type ProxyParts, podProxy, serviceProxy } from "./proxy.ts";

/** The connections to nodes, pods and services. */
export function connectionsOf(parts: SessionParts & ProxyParts): Connections {
  return {
    nodeProxy: nodeProxy(parts),
    podAttach: podProcess(parts, "attach"),
    podExec: podProcess(parts, "exec"),
    podLog: podLog(parts),
    podPortForward: podPortForward(parts),
    podProxy: podProxy(parts),
    serviceProxy: serviceProxy(parts),
  };
}
