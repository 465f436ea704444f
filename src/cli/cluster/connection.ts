import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ClusterClient } from "../../cluster/cluster-client.ts";
import { defaultDataDir } from "../../server/config/server-options.ts";
import { StartupError } from "../../process/startup-error.ts";
import { readKubeconfig } from "../../client/kubeconfig.ts";

/** kubectl's options for finding the cluster. */
export interface ConnectionOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly server?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the cluster of the first kubeconfig found: the flag's, the environment's, kubectl's default, or the one that a server
 * on this machine has written.
 * @throws StartupError when there is no kubeconfig, or it cannot be used
 */
export function openCluster({ kubeconfig, context, server }: ConnectionOptions): ClusterClient {
  const candidates = candidatesOf(kubeconfig, process.env);
  const file = candidates.find((path) => existsSync(path));
  if (file === undefined) {
    throw new StartupError(`no kubeconfig at ${candidates.join(" or ")}: name one with --kubeconfig`);
  }
  try {
    return new ClusterClient(readKubeconfig(file, { context }), server === undefined ? undefined : urlOf(server));
  } catch (error) {
    throw error instanceof StartupError ? error : new StartupError(`${file}: ${(error as Error).message}`);
  }
}

function candidatesOf(kubeconfig: string | undefined, environment: Environment): string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (listed.length > 0) return listed;
  return [join(homedir(), ".kube", "config"), join(defaultDataDir(environment), "kubeconfig")];
}

function urlOf(server: string): string {
  if (server.startsWith("https://") && URL.canParse(server)) return server;
  throw new StartupError(`--server: ${JSON.stringify(server)} is not an https URL`);
}
