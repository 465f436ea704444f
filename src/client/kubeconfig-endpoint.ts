import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../process/clock.ts";
import { type JsonEndpoint, postJson } from "./json-endpoint.ts";
import { readKubeconfig } from "./kubeconfig.ts";

const serviceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Returns the server of a kubeconfig's current context, with our credentials. `server` may have a path. If its
 * credential is rejected, an exec plugin runs once more.
 * @throws Error that says what is missing or wrong, without any credential
 */
export function kubeconfigEndpoint(file: string, clock?: Clock): JsonEndpoint {
  const server = readKubeconfig(file, { clock });
  return {
    async post(body, signal) {
      const proof = await server.proof();
      const answer = await postJson(server.url, { body, signal, ...proof });
      if (answer.code !== 401 || !server.renew(proof)) return answer;
      return postJson(server.url, { body, signal, ...(await server.proof()) });
    },
  };
}

/** Returns the API server of the environment in a pod, with the pod's service account. */
export function inClusterEndpoint(
  environment: Readonly<Record<string, string | undefined>>,
  path: string,
): JsonEndpoint {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (host === undefined || port === undefined) {
    throw new Error("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod");
  }
  const ca = readFileSync(join(serviceAccountDirectory, "ca.crt"), "utf8");
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
  return {
    post(body, signal) {
      const token = readFileSync(join(serviceAccountDirectory, "token"), "utf8").trim();
      return postJson(url, { body, signal, tls: { ca, rejectUnauthorized: true }, authorization: `Bearer ${token}` });
    },
  };
}
