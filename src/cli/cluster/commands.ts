import { type Command, Option } from "commander";
import { StartupError } from "../../process/startup-error.ts";
import { parseDurationMs } from "../../server/config/duration.ts";
import type { ServerOptions } from "../../server/config/server-options.ts";
import { addServerFlags, toServerOptions } from "../server-flags.ts";
import type { Terminal } from "../terminal.ts";
import type { ConnectionOptions } from "./connection.ts";
import type { JoinOptions } from "./join.ts";
import type { KubeconfigOptions } from "./kubeconfig.ts";
import type { LoadBalancer, LocalClusterOptions } from "./local-cluster.ts";
import type { LearnerOptions } from "./member.ts";
import { apiRotationHelp, type RotateCaOptions } from "./rotate-ca-options.ts";
import type { RestoreOptions } from "./snapshot.ts";
import type { TokenOptions } from "./token.ts";

export type Output = "table" | "json";

/** The cluster commands by name. Each returns its exit code. */
export interface ClusterCommands {
  init(options: ServerOptions, terminal: Terminal): Promise<number>;
  join(options: ServerOptions, join: JoinOptions, terminal: Terminal): Promise<number>;
  up(options: ServerOptions, local: LocalClusterOptions, terminal: Terminal): Promise<number>;
  createToken(at: ConnectionOptions, options: TokenOptions, terminal: Terminal): Promise<number>;
  listTokens(at: ConnectionOptions, terminal: Terminal): Promise<number>;
  listMembers(at: ConnectionOptions, output: Output, terminal: Terminal): Promise<number>;
  addLearner(at: ConnectionOptions, learner: LearnerOptions, terminal: Terminal): Promise<number>;
  promoteMember(at: ConnectionOptions, id: number, terminal: Terminal): Promise<number>;
  removeMember(at: ConnectionOptions, id: number, terminal: Terminal): Promise<number>;
  transferLeader(at: ConnectionOptions, id: number, terminal: Terminal): Promise<number>;
  status(at: ConnectionOptions, output: Output, terminal: Terminal): Promise<number>;
  rotateCa(at: ConnectionOptions, rotation: RotateCaOptions, terminal: Terminal): Promise<number>;
  printKubeconfig(at: ConnectionOptions, options: KubeconfigOptions, terminal: Terminal): Promise<number>;
  recover(directory: string, terminal: Terminal): Promise<number>;
  saveSnapshot(at: ConnectionOptions, file: string, terminal: Terminal): Promise<number>;
  inspectSnapshot(file: string, output: Output, terminal: Terminal): Promise<number>;
  restoreSnapshot(file: string, options: RestoreOptions, terminal: Terminal): Promise<number>;
}

/** Far more revisions than a cluster writes between a snapshot and its loss. */
const revisionGapDefault = 1_000_000_000;
/** More replicas would share one machine's disk and processors without benefit. */
const replicasMax = 7;

const open = async (at: ConnectionOptions) => (await import("./connection.ts")).reachCluster(at);

/** Loads a command's code when it is called, because a server does not need it to start. */
export const clusterCommands: ClusterCommands = {
  init: async (...args) => (await import("./init.ts")).initCluster(...args),
  join: async (...args) => (await import("./join.ts")).joinCluster(...args),
  up: async (...args) => (await import("./local-cluster.ts")).upLocalCluster(...args),
  createToken: async (at, ...args) => (await import("./token.ts")).createToken(await open(at), ...args),
  listTokens: async (at, ...args) => (await import("./token.ts")).listTokens(await open(at), ...args),
  listMembers: async (at, ...args) => (await import("./member.ts")).listMembers(await open(at), ...args),
  addLearner: async (at, ...args) => (await import("./member.ts")).addLearner(await open(at), ...args),
  promoteMember: async (at, ...args) => (await import("./member.ts")).promoteMember(await open(at), ...args),
  removeMember: async (at, ...args) => (await import("./member.ts")).removeMember(await open(at), ...args),
  transferLeader: async (at, ...args) => (await import("./member.ts")).transferLeader(await open(at), ...args),
  status: async (at, ...args) => (await import("./status.ts")).showStatus(await open(at), ...args),
  rotateCa: async (at, ...args) => (await import("./rotate-ca.ts")).rotateCa(await open(at), ...args),
  printKubeconfig: async (at, ...args) => (await import("./kubeconfig.ts")).printKubeconfig(await open(at), ...args),
  recover: async (...args) => (await import("./recover.ts")).recoverCluster(...args),
  saveSnapshot: async (at, ...args) => (await import("./snapshot.ts")).saveSnapshot(await open(at), ...args),
  inspectSnapshot: async (...args) => (await import("./snapshot.ts")).inspectSnapshot(...args),
  restoreSnapshot: async (...args) => (await import("./snapshot.ts")).restoreSnapshot(...args),
};

/** Adds `cluster`, `member`, `status` and `snapshot` to the program. */
export function addClusterCommands(
  program: Command,
  run: ClusterCommands,
  terminal: Terminal,
  setExitCode: (code: number) => void,
): void {
  const done = (code: Promise<number>) => code.then(setExitCode);
  const cluster = groupOf(program, "cluster", "make a cluster of several replicas");
  const member = groupOf(program, "member", "manage the members of a cluster");

  addServerFlags(leaf(cluster, "init", "run the first member of a new cluster, which others can join")).action(
    (values) => done(run.init(toServerOptions(values), terminal)),
  );
  addServerFlags(
    leaf(cluster, "join <url>", "join the cluster of the server at <url>, and run the member")
      .option("--token <token>", 'the token printed by "quorate cluster token create"')
      .option("--token-file <file>", "file with the token; hides it from other users of the machine")
      .option("--ca-hash <hash>", "hash of the cluster's authority, checked before anything is sent")
      .option("--learner", "remain a learner, which serves clients and never votes"),
  ).action((endpoint, { token, tokenFile, caHash, learner, ...values }) =>
    done(
      run.join(toServerOptions(values), { endpoint, token, tokenFile, caHash, learner: learner === true }, terminal),
    ),
  );
  addServerFlags(
    leaf(cluster, "up", "run several replicas and a load balancer on this machine, to try out a cluster")
      .addOption(replicas())
      .addOption(loadBalancer()),
  ).action(({ replicas: count, loadBalancer: balancer, ...values }) =>
    done(run.up(toServerOptions(values), { replicas: count, loadBalancer: balancer }, terminal)),
  );
  const token = groupOf(cluster, "token", "manage the tokens that let machines join");
  addConnectionFlags(leaf(token, "create", "make a token, and print the command that joins a machine"))
    .option("--ttl <duration>", "lifetime of the token, at most 24h (default 1h)", (text) => seconds("--ttl", text))
    .option("--description <text>", "purpose of the token")
    .action(({ ttl, description, ...at }) => done(run.createToken(at, { ttlSeconds: ttl, description }, terminal)));
  addConnectionFlags(leaf(token, "list", "show the valid tokens, without their secrets")).action((at) =>
    done(run.listTokens(at, terminal)),
  );

  addConnectionFlags(leaf(member, "list", "show the members"))
    .addOption(output())
    .action(({ output: form, ...at }) => done(run.listMembers(at, form, terminal)));
  addConnectionFlags(
    leaf(member, "add-learner <name>", "record a member in advance, and print the command that joins it"),
  )
    .requiredOption("--peer-address <host:port>", "address where the other members reach the new one")
    .requiredOption("--client-url <url>", "URL of its API")
    .action((name, { peerAddress, clientUrl, ...at }) =>
      done(run.addLearner(at, { name, peerAddress, clientUrl }, terminal)),
    );
  const changes = [
    ["promote", "make a learner a voter", "promoteMember"],
    ["remove", "remove a member from the cluster", "removeMember"],
    ["transfer-leader", "make another member the leader", "transferLeader"],
  ] as const;
  for (const [name, description, change] of changes) {
    addConnectionFlags(leaf(member, `${name} <id>`, description)).action((id, at) =>
      done(run[change](at, memberNumber(id), terminal)),
    );
  }
  addConnectionFlags(leaf(program, "status", "show the leader, and the health of each member"))
    .addOption(output())
    .action(({ output: form, ...at }) => done(run.status(at, form, terminal)));
  leaf(cluster, "recover", "make a cluster of one stopped member, after the others are lost for good")
    .requiredOption("--data-dir <dir>", "data directory of the remaining member")
    .action(({ dataDir }) => done(run.recover(dataDir, terminal)));

  addConnectionFlags(leaf(cluster, "rotate-ca", "replace the authority of the members' certificates, without downtime"))
    .option("--api", "replace the API's authority instead, which signs certificates of clients and servers")
    .option("--finish", "with --api, after clients have the new certificates: stop trusting the old authority")
    .addHelpText("after", apiRotationHelp)
    .action(({ api, finish, ...at }) =>
      done(run.rotateCa(at, { api: api === true, finish: finish === true }, terminal)),
    );

  addConnectionFlags(
    leaf(program, "kubeconfig", "print a kubeconfig that names all members, for yourself or another user"),
  )
    .option("--address <url>", "server to name, such as a load balancer (default the member that answers)")
    .option("--user <name>", "user to make a client certificate for (default yourself)")
    .option("--group <name>", "group of that user; repeatable", (text, before: readonly string[] = []) => [
      ...before,
      text,
    ])
    .option("--ttl <duration>", "lifetime of the certificate, such as 24h (default 1 year)", (text) =>
      seconds("--ttl", text),
    )
    .action(({ address, user, group = [], ttl, ...at }) =>
      done(run.printKubeconfig(at, { address, user, groups: group, ttlSeconds: ttl }, terminal)),
    );

  const snapshot = groupOf(program, "snapshot", "save and restore all objects");
  addConnectionFlags(leaf(snapshot, "save <file>", "save the current state, and check the file")).action((file, at) =>
    done(run.saveSnapshot(at, file, terminal)),
  );
  leaf(snapshot, "inspect <file>", "check a snapshot, and show its content")
    .addOption(output())
    .action((file, { output: form }) => done(run.inspectSnapshot(file, form, terminal)));
  leaf(snapshot, "restore <file>", 'make a new cluster from a snapshot; start its first member with "quorate up"')
    .requiredOption("--data-dir <dir>", "data directory of the new member; must be empty or absent")
    .option(
      "--bump-revision <count>",
      "number of revisions to skip, so that clients see no revision twice",
      count,
      revisionGapDefault,
    )
    .action((file, { dataDir, bumpRevision }) =>
      done(run.restoreSnapshot(file, { directory: dataDir, revisionGap: bumpRevision }, terminal)),
    );
}

function groupOf(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

function leaf(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).allowExcessArguments(false);
}

/** Adds the flags that choose a cluster. */
export function addConnectionFlags(command: Command): Command {
  return command
    .option(
      "--kubeconfig <file>",
      "kubeconfig of the cluster (default $KUBECONFIG, or the one of a server on this machine)",
    )
    .option("--context <name>", "context in the kubeconfig (default the current one)")
    .option("-s, --server <url>", "URL of the member to ask")
    .addOption(endpoints());
}

function endpoints(): Option {
  return new Option(
    "--endpoints <url,…>",
    "URLs of members; the first ready one is asked (default all members in the kubeconfig)",
  ).argParser((text, previous: readonly string[] = []) => [...previous, ...text.split(",")]);
}

function output(): Option {
  return new Option("-o, --output <form>", "table or json").choices(["table", "json"]).default("table");
}

function replicas(): Option {
  return new Option("--replicas <n>", `number of replicas, at most ${replicasMax}`).default(3).argParser((text) => {
    const count = /^[1-9]$/.test(text) ? Number(text) : Number.NaN;
    if (count <= replicasMax) return count;
    throw new StartupError(`--replicas: ${JSON.stringify(text)} is not a number from 1 to ${replicasMax}`);
  });
}

function loadBalancer(): Option {
  const choices: LoadBalancer[] = ["auto", "haproxy", "none"];
  return new Option("--load-balancer <kind>", "haproxy, none, or auto: haproxy if it is installed")
    .choices(choices)
    .default("auto");
}

function seconds(flag: string, text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms < 1_000)
    throw new StartupError(`${flag}: ${JSON.stringify(text)} is not a duration such as 1h`);
  return Math.floor(ms / 1_000);
}

function memberNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new StartupError(`${JSON.stringify(text)} is not the id of a member: see "quorate member list"`);
}

function count(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new StartupError(`--bump-revision: ${JSON.stringify(text)} is not a number`);
}
