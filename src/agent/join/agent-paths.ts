import { join } from "node:path";

/** The files of an agent, with kubelet's names. */
export interface AgentPaths {
  readonly kubeconfig: string;
  readonly clientCertificate: string;
  /** Key of a request for the first client certificate, until it is issued. */
  readonly pendingKey: string;
  readonly servingCertificate: string;
  /** Self-signed certificate and its key. */
  readonly ownCertificate: string;
  readonly ownKey: string;
}

export function agentPaths(kubeconfig: string, certificateDirectory: string): AgentPaths {
  const file = (name: string) => join(certificateDirectory, name);
  return {
    kubeconfig,
    clientCertificate: file("kubelet-client-current.pem"),
    pendingKey: file("kubelet-client.key.tmp"),
    servingCertificate: file("kubelet-server-current.pem"),
    ownCertificate: file("kubelet.crt"),
    ownKey: file("kubelet.key"),
  };
}
