import type { ListenerTls } from "../../access/certificates/identity.ts";
import type { Node, Pod, ResourceList } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { Informer } from "../../client/informer.ts";
import { clientEventRecorder } from "../../controllers/events/client-event-recorder.ts";
import type { EventQueue } from "../../controllers/events/event-queue.ts";
import { gitVersion } from "../../http/version.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/logs.ts";
import { AgentNode } from "../node/agent-node.ts";
import { nodeRecorder } from "../node/node-recorder.ts";
import { nodeType } from "../node/node-registration.ts";
import { type NodeSettings, nodeDefaults } from "../node/node-settings.ts";
import { followPods } from "../pods/follow-pods.ts";
import type { PodDirectory } from "../pods/pod-directory.ts";
import { PodManager } from "../pods/pod-manager.ts";
import { podRecorder } from "../pods/pod-recorder.ts";
import { StatusWriter } from "../pods/status-writer.ts";
import type { SimulationRules } from "../runtime/simulated/rules.ts";
import { SimulatedRuntime } from "../runtime/simulated/simulated-runtime.ts";
import { Simulation } from "../runtime/simulated/simulation.ts";
import { type Endpoint, openEndpoint } from "../serving/endpoint.ts";
import { EqualParts } from "./equal-parts.ts";
import { SimulatedDirectory } from "./simulated-directory.ts";
import { SimulatedFiles } from "./simulated-files.ts";
import { capacityDefault, simulatedMachine } from "./simulated-machine.ts";
import { SimulatedPressure } from "./simulated-pressure.ts";

/** Label of simulated nodes. */
export const simulatedLabel = "simulation.quorate/node";

/** Nodes that start at once. The others follow one by one, which also spreads their heartbeats. */
const startedAtOnce = 10;
const startIntervalMs = 10;
const closeGraceMs = 1_000;
/** Nothing is there: the logs of simulated containers are made from their rules. */
const logDirectory = "/var/log/pods";

export interface SimulatedNodesOptions {
  /** Acts for all nodes: reads pods and what they refer to, writes statuses and Events, and asks for reviews. */
  readonly client: Client;
  /** Returns the client with which a node registers and renews its Lease. */
  readonly clientOf: (nodeName: string) => Pick<Client, "get" | "create" | "update" | "patch">;
  readonly names: readonly string[];
  /** Resources of each node. */
  readonly capacity?: ResourceList | undefined;
  readonly podsMax?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Address of the nodes, and of the HTTPS endpoint that they share. */
  readonly address: string;
  /** Port of the endpoint; 0 for any free one. */
  readonly port: number;
  readonly tls: ListenerTls;
  readonly rules?: SimulationRules | undefined;
  readonly seed: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onError: (error: unknown) => void;
}

/** Nodes without machines, in this process. */
export interface SimulatedNodes extends AsyncDisposable {
  /** Port of the HTTPS endpoint. */
  readonly port: number;
  /** Resolves when all nodes are registered. */
  readonly registered: Promise<void>;
  /** Uses a renewed certificate, or other authorities of clients, for new connections to the endpoint. */
  reload(tls: ListenerTls): void;
}

/** The parts that all nodes share. */
interface SharedParts {
  readonly options: SimulatedNodesOptions;
  readonly simulation: Simulation;
  readonly nodes: Informer<Node>;
  readonly files: SimulatedFiles;
  readonly recorder: EventQueue;
  readonly writer: StatusWriter;
  readonly pressure: SimulatedPressure;
}

interface SimulatedNode {
  readonly name: string;
  readonly runtime: SimulatedRuntime;
  readonly pods: PodManager;
}

/** Opens the endpoint and starts to register nodes. */
export async function openSimulatedNodes(options: SimulatedNodesOptions): Promise<SimulatedNodes> {
  const { client, names, clock, seed, rules, onError } = options;
  await using parts = new AsyncDisposableStack();
  const simulation = parts.use(new Simulation({ clock, seed, rules }));
  const { random } = simulation;
  const labelSelector = simulatedLabel;
  const equalParts = new EqualParts();
  const nodes = parts.use(
    new Informer<Node>({
      client,
      type: nodeType,
      selector: { labelSelector },
      clock,
      random,
      prepare(node) {
        delete node.metadata.managedFields;
        equalParts.share(node.status);
      },
      onError,
    }),
  );
  const shared: SharedParts = {
    options,
    simulation,
    nodes,
    pressure: parts.use(new SimulatedPressure((name) => nodes.get(name))),
    files: parts.use(new SimulatedFiles({ client, clock, random, onError })),
    recorder: parts.use(clientEventRecorder({ client, clock, component: "kubelet", onError })),
    writer: new StatusWriter(client),
  };
  const opened = await Promise.all(names.map((name) => openNode(shared, name)));
  for (const { runtime, pods } of opened) {
    parts.use(runtime);
    parts.use(pods);
  }
  const endpoint = await openNodesEndpoint(options, new SimulatedDirectory(opened.map(({ pods }) => pods)));
  parts.defer(() => endpoint.close(closeGraceMs));
  const byName = new Map(opened.map(({ name, pods }) => [name, pods]));
  const prepare = ({ spec, status }: Pod) => {
    equalParts.share(spec);
    equalParts.share(status);
  };
  parts.use(followPods({ client, clock, random, onError, prepare, managerOf: (name) => byName.get(name) }));
  const kept = parts.move();
  const started = opened.map((node, at) => startNode(shared, node, at, endpoint.port, kept));
  return {
    port: endpoint.port,
    registered: Promise.all(started).then(() => undefined),
    reload: (tls) => endpoint.reload(tls),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function openNode(
  { options, simulation, nodes, files, pressure, ...shared }: SharedParts,
  name: string,
): Promise<SimulatedNode> {
  const { client, clock, address, onError } = options;
  const { random, schedule } = simulation;
  const node = () => nodes.get(name);
  const runtime = new SimulatedRuntime({ simulation, podRanges: () => node()?.spec?.podCIDRs ?? [] });
  const hostIps = () => [address];
  const pods = await PodManager.open({
    ...shared,
    client,
    clock,
    random,
    schedule,
    onError,
    nodeName: name,
    runtime,
    files: files.ofNode(node, hostIps),
    logDirectory,
    node,
    hostIps,
    pressures: () => pressure.pressuresOf(name),
  });
  return { name, runtime, pods };
}

/** Resolves when the node is registered. */
async function startNode(
  { options, simulation, nodes, recorder, pressure }: SharedParts,
  { name, runtime, pods }: SimulatedNode,
  at: number,
  port: number,
  parts: AsyncDisposableStack,
): Promise<void> {
  const { clientOf, capacity = capacityDefault, labels, podsMax = nodeDefaults.podsMax, address, clock } = options;
  const settings: NodeSettings = {
    ...nodeDefaults,
    name,
    // The API server prefers this address, and the name of the node cannot be resolved.
    hostname: address,
    labels: { "kubernetes.io/hostname": name, [simulatedLabel]: "", ...labels },
    podsMax,
    port,
    version: gitVersion,
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  const start = () => {
    const node = new AgentNode({
      client: clientOf(name),
      settings,
      machine: simulatedMachine(name, crypto.randomUUID(), capacity, address),
      runtime,
      pressures: () => pressure.pressuresOf(name),
      clock,
      random: simulation.random,
      cached: () => nodes.get(name),
      record: (occurrence) => recorder.record(occurrence),
      onError: options.onError,
    });
    parts.use(node);
    const record = nodeRecorder(recorder, name);
    pressure.add(name, {
      runtime,
      pods,
      files: {},
      logDirectory,
      clock,
      warn: (reason, message) => record("Warning", reason, message),
      record: podRecorder(recorder, name),
      changed: () => node.updateNow(),
      onError: options.onError,
    });
    void node.registered.then(resolve);
  };
  parts.use(clock.after(Math.max(0, at - startedAtOnce) * startIntervalMs, start));
  await promise;
}

/** @throws Error for an address that cannot be listened on */
async function openNodesEndpoint(options: SimulatedNodesOptions, directory: PodDirectory): Promise<Endpoint> {
  const { address: host, port, tls, client, clock, log, names, seed } = options;
  return await openEndpoint({
    host,
    port,
    tls,
    directory,
    client,
    clock,
    log,
    access: { anonymous: false, tokenWebhook: true, authorizationMode: "Webhook" },
    // All nodes have one address, so a request may concern any of them.
    nodeNameOf: () => "",
    nodeStats: async () => ({ timeMs: clock.nowMs() }),
    configuration: () => ({ nodes: names.length, seed }),
    rootDir: "/var/lib/kubelet",
    logsDir: "/var/log",
    switches: { enableSystemLogHandler: false },
  });
}
