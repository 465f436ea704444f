import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { readKubeconfig, readServerUrls } from "../../client/kubeconfig.ts";
import { ClusterClient, ClusterRequestError } from "../../cluster/cluster-client.ts";
import { StartupError } from "../../process/startup-error.ts";
import { defaultDataDir } from "../../server/config/server-options.ts";

/** kubectl's options for finding the cluster. */
export interface ConnectionOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly server?: string | undefined;
  /** URLs of members, in the order of the attempts. */
  readonly endpoints?: readonly string[] | undefined;
}

/** A member that takes longer to answer is skipped. */
const probeMsMax = 3_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the cluster of the first kubeconfig found: the flag's, the environment's, kubectl's default, or the one that a
 * server on this machine wrote.
 * @throws StartupError when there is no kubeconfig, or it is not usable
 */
export function openCluster(options: ConnectionOptions): ClusterClient {
  return locate(options).client;
}

/**
 * Opens the cluster at the first member that is ready. The candidates are the members of --endpoints or, unless flags
 * choose one, all members in the kubeconfig. If no member is ready, takes the first one that answers.
 * @throws StartupError when no member answers, or when there is no usable kubeconfig
 */
export async function reachCluster(options: ConnectionOptions): Promise<ClusterClient> {
  const { client, urls } = locate(options);
  if (urls.length <= 1) return client;
  const failures: string[] = [];
  let unready: ClusterClient | undefined;
  for (const url of urls) {
    const member = client.at(url);
    try {
      await member.probe(probeMsMax);
      return member;
    } catch (error) {
      if (!(error instanceof ClusterRequestError)) throw error;
      if (error.code !== undefined) unready ??= member;
      failures.push(error.message);
    }
  }
  if (unready !== undefined) return unready;
  throw new StartupError(`no member answers: ${failures.join("; ")}`);
}

interface Located {
  readonly client: ClusterClient;
  /** The candidates. */
  readonly urls: readonly string[];
}

function locate({ kubeconfig, context, server, endpoints }: ConnectionOptions): Located {
  if (server !== undefined && endpoints !== undefined) {
    throw new StartupError("--server and --endpoints: give only one of them");
  }
  const given = server === undefined ? endpoints?.map((url) => urlOf("--endpoints", url)) : [urlOf("--server", server)];
  const candidates = candidatesOf(kubeconfig, process.env);
  const file = candidates.find((path) => existsSync(path));
  if (file === undefined) {
    throw new StartupError(`no kubeconfig at ${candidates.join(" or ")}: name one with --kubeconfig`);
  }
  try {
    const client = new ClusterClient(readKubeconfig(file, { context }), given?.[0]);
    return { client, urls: given ?? (context === undefined ? readServerUrls(file) : [client.url]) };
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

function urlOf(flag: string, url: string): string {
  if (url.startsWith("https://") && URL.canParse(url)) return url;
  throw new StartupError(`${flag}: ${JSON.stringify(url)} is not an https URL`);
}
