import { readFileSync } from "node:fs";
import { connect, isIP } from "node:net";
import { dirname, join } from "node:path";
import { renderKubeconfig, writeKubeconfig } from "../../access/certificates/kubeconfig.ts";
import { readKubeconfig } from "../../client/kubeconfig.ts";
import { StartupError } from "../../process/startup-error.ts";
import { defaultDataDir, resolveOptions, type ServerOptions } from "../../server/config/server-options.ts";
import type { Terminal } from "../terminal.ts";
import { instructions } from "../up.ts";
import { findHaproxy, writeHaproxyFiles } from "./local-cluster-balancer.ts";
import { type LocalLayout, openLayout, urlOf } from "./local-cluster-layout.ts";
import { startReplicas } from "./local-cluster-replicas.ts";
import { Supervisor, type Unit } from "./local-cluster-supervisor.ts";

export interface LocalClusterOptions {
  readonly replicas: number;
  readonly loadBalancer: LoadBalancer;
}

/** `auto` uses haproxy if it is installed. */
export type LoadBalancer = "auto" | "haproxy" | "none";

const balancerName = "haproxy";
const startAgainSignal = "SIGUSR2";

/** Flags that differ between replicas, and are therefore set by this command. */
const ownFlags = {
  "--in-memory": "inMemory",
  "--peer-address": "peerAddress",
  "--gossip-address": "gossipAddress",
  "--advertise-client-url": "advertiseClientUrl",
  "--member-name": "memberName",
} as const satisfies Readonly<Record<string, keyof ServerOptions>>;

/**
 * Runs `quorate cluster up`: several replicas on this machine, each in its own process, behind a load balancer, until a
 * signal to stop. A dead replica is restarted only on SIGUSR2, so that the user can watch the others continue.
 * @returns 0 after an orderly stop, 1 when no replica is left
 */
export async function upLocalCluster(
  options: ServerOptions,
  { replicas, loadBalancer }: LocalClusterOptions,
  terminal: Terminal,
): Promise<number> {
  const haproxy = haproxyFor(loadBalancer);
  const { layout, host, kubeconfig } = await prepare(options, replicas);
  const told = Promise.withResolvers<"stop">();
  let signals = 0;
  using _signals = terminal.onStopSignal(() => (++signals > 1 ? terminal.exit(1) : told.resolve("stop")));

  const noneLeft = Promise.withResolvers<"none">();
  const running = () => layout.members.filter(({ name }) => supervisor.pidOf(name) !== undefined).length;
  const supervisor = new Supervisor({
    directory: layout.directory,
    onDeath: (unit, dead) => {
      terminal.complain(`${unit.name} (process ${dead.pid}) ${dead.end}; ${stateText(running(), layout)}`);
      terminal.complain(`start it again with: kill -${startAgainSignal.slice(3)} ${process.pid}`);
      if (running() === 0) noneLeft.resolve("none");
    },
  });
  const startAgain = () =>
    supervisor.startAgain(
      ({ name }) => terminal.complain(`${name} runs again, process ${supervisor.pidOf(name)}`),
      ({ message }) => terminal.complain(`quorate: ${message}`),
    );
  try {
    const started = start();
    // A failure of the start does not matter after a signal to stop.
    started.catch(() => undefined);
    if ((await Promise.race([started, told.promise])) === "stop") return 0;
    process.on(startAgainSignal, startAgain);
    if ((await Promise.race([told.promise, noneLeft.promise])) === "stop") return 0;
    terminal.complain("quorate: no replica is left");
    return 1;
  } finally {
    process.off(startAgainSignal, startAgain);
    await stop();
  }

  async function start(): Promise<void> {
    terminal.complain(`starting ${layout.members.length} replicas in ${layout.directory}`);
    await startReplicas(supervisor, layout.members, options);
    const front =
      haproxy === undefined ? urlOf(layout.members[0]) : `https://${bracketed(reachable(host))}:${layout.port}`;
    await publish(layout, front, kubeconfig);
    if (haproxy !== undefined) await supervisor.start(balancerUnit(layout, host, haproxy));
    for (const member of layout.members) {
      terminal.complain(`${member.name} is ${urlOf(member)}, process ${supervisor.pidOf(member.name)}`);
    }
    terminal.complain(
      haproxy === undefined
        ? `no load balancer: kubectl asks ${layout.members[0].name} only; ${otherContexts(layout)}`
        : `haproxy, process ${supervisor.pidOf(balancerName)}, spreads connections to ${front} over the replicas`,
    );
    for (const line of instructions(kubeconfig)) terminal.print(line);
  }

  async function stop(): Promise<void> {
    // haproxy stops accepting connections, and ends with its last one, so the replicas can answer their requests.
    supervisor.signal(balancerName, "SIGUSR1");
    const killed = await supervisor.stop(layout.members.map(({ name }) => name));
    await supervisor.stop([balancerName]);
    supervisor.close();
    for (const name of killed)
      terminal.complain(`${name} did not stop and was killed; its log is ${supervisor.logOf(name)}`);
  }
}

function haproxyFor(loadBalancer: LoadBalancer): string | undefined {
  if (loadBalancer === "none") return undefined;
  const program = findHaproxy();
  if (program !== undefined || loadBalancer === "auto") return program;
  throw new StartupError("--load-balancer: haproxy is not installed: install it, or omit the flag");
}

/** @throws StartupError for a flag that several replicas cannot share */
async function prepare(
  options: ServerOptions,
  replicas: number,
): Promise<{ layout: LocalLayout; host: string; kubeconfig: string }> {
  for (const [flag, name] of Object.entries(ownFlags)) {
    if (options[name] === undefined || options[name] === false) continue;
    throw new StartupError(`${flag}: omit it, because "quorate cluster up" sets it for each replica`);
  }
  const dataDir = options.dataDir ?? join(dirname(defaultDataDir(process.env)), "quorate-cluster");
  const { dataDir: directory = dataDir, securePort, bindAddress, kubeconfig } = resolveOptions({ ...options, dataDir });
  const layout = await openLayout(directory, replicas, options.securePort, securePort);
  return { layout, host: bindAddress, kubeconfig: kubeconfig ?? join(directory, "kubeconfig") };
}

/** Writes a kubeconfig for all replicas, based on the kubeconfig of the first one. */
async function publish({ members }: LocalLayout, server: string, path: string): Promise<void> {
  const [first] = members;
  const { ca = "", cert = "", key = "" } = (await readKubeconfig(join(first.directory, "kubeconfig")).proof()).tls;
  const token = readFileSync(join(first.directory, "pki", "token"), "utf8").trim();
  const text = renderKubeconfig({
    server,
    authority: String(ca),
    admin: { certificate: String(cert), key: String(key) },
    token,
    members: members.map((member) => ({ name: member.name, server: urlOf(member) })),
  });
  await writeKubeconfig(path, text);
}

function balancerUnit({ directory, port, members }: LocalLayout, host: string, program: string): Unit {
  return {
    name: balancerName,
    isReady: () => accepts(reachable(host), port),
    async command() {
      const servers = members.map(({ name, port: own }) => ({ name, address: `127.0.0.1:${own}` }));
      const dataDirectory = members[0].directory;
      const config = await writeHaproxyFiles({ directory, dataDirectory, bind: `${bracketed(host)}:${port}`, servers });
      return [program, "-db", "-f", config];
    },
  };
}

function accepts(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port }, () => resolve(true)).on("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Returns advice for a cluster without a load balancer: kubectl asks only the server of its context. */
function otherContexts({ members }: LocalLayout): string {
  const [, ...others] = members.map(({ name }) => name);
  if (others.length === 0) return "there is no other replica";
  return `if it is down, use kubectl --context ${others.join(" or ")}; quorate's own commands try all replicas`;
}

function stateText(running: number, { members }: LocalLayout): string {
  const quorum = Math.floor(members.length / 2) + 1;
  const text = `${running} of ${members.length} replicas are running`;
  return running >= quorum
    ? `${text}, which is a quorum`
    : `${text}, less than a quorum: writes fail until ${quorum} are running`;
}
