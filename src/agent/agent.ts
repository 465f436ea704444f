import type { Node } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { Informer } from "../client/informer.ts";
import { clientEventRecorder } from "../controllers/events/client-event-recorder.ts";
import { gitVersion } from "../http/version.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { RepeatedTask } from "../process/repeated-task.ts";
import { thrownText } from "../process/thrown-text.ts";
import { openAgentClient } from "./agent-client.ts";
import { openAgentEndpoint } from "./agent-endpoint.ts";
import { makeAgentFolders } from "./agent-folders.ts";
import type { AgentOptions } from "./agent-options.ts";
import { openRuntime } from "./agent-runtime.ts";
import { EvictionManager } from "./eviction/eviction-manager.ts";
import { NodePressure } from "./eviction/node-pressure.ts";
import { MirrorPods } from "./files/mirror-pods.ts";
import { StaticPods } from "./files/static-pods.ts";
import { AgentNode } from "./node/agent-node.ts";
import { localMachine } from "./node/local-machine.ts";
import { MeasuredMachine } from "./node/measured-machine.ts";
import { nodeRecorder } from "./node/node-recorder.ts";
import { nodeType } from "./node/node-registration.ts";
import { followPods } from "./pods/follow-pods.ts";
import { PodManager } from "./pods/pod-manager.ts";
import { podRecorder } from "./pods/pod-recorder.ts";
import { Schedule } from "./pods/schedule.ts";
import { StatusWriter } from "./pods/status-writer.ts";
import { ImageCollector, imageLimits } from "./runtime/image-collector.ts";

export interface AgentParts {
  readonly options: AgentOptions;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** An agent that runs. Its end leaves the Node and the containers as they are. */
export interface RunningAgent extends AsyncDisposable {
  /** Port of the HTTPS endpoint. */
  readonly port: number;
  /** Resolves when the Node exists. */
  readonly registered: Promise<void>;
}

/**
 * Opens the parts of the agent in order, and closes them in the opposite order: the client, the runtime, the pods, those
 * in files, the HTTPS endpoint, the node, and then the watch of the node's pods.
 * @throws StartupError that says what is wrong
 */
export async function openAgent({ options, clock, random, log }: AgentParts): Promise<RunningAgent> {
  const { name } = options.node;
  const onError = (error: unknown) => log.warn("An attempt of the agent failed.", { error: thrownText(error) });
  await using parts = new AsyncDisposableStack();
  await makeAgentFolders(options);
  const userAgent = `kubelet/${gitVersion}`;
  const { client, authority, paths } = parts.use(await openAgentClient({ options, clock, random, userAgent, onError }));
  const machine = await MeasuredMachine.open(localMachine({ rootDirectory: options.rootDirectory }));
  const nodes = parts.use(ownNode(client, name, { clock, random, onError }));
  const node = () => nodes.get(name);
  const hostIps = () => options.node.addresses ?? machine.addresses;
  const { runtime, files } = await openRuntime({ options, client, clock, random, node, hostIps, onError }, parts);
  for (const shortcoming of runtime.shortcomings ?? []) {
    log.info("The runtime cannot do everything on this machine.", { shortcoming });
  }
  const mirrors = parts.use(new MirrorPods({ client, clock, node, onError }));
  const recorder = parts.use(clientEventRecorder({ client, clock, component: "kubelet", onError }));
  const recordOfNode = nodeRecorder(recorder, name);
  const warn = (reason: string, message: string) => recordOfNode("Warning", reason, message);
  const { imageStore: store } = runtime;
  const images = store && parts.use(new ImageCollector({ store, limits: imageLimits, clock, warn }));
  const pressure = new NodePressure(options.eviction);
  const pressures = () => pressure.pressures;
  const pods = parts.use(
    await PodManager.open({
      client,
      clock,
      random,
      schedule: parts.use(new Schedule(clock)),
      writer: new StatusWriter(client),
      recorder,
      nodeName: name,
      runtime,
      files,
      logDirectory: options.logDirectory,
      mirrors,
      node,
      hostIps,
      pressures,
      onError,
    }),
  );
  if (options.manifestPath !== undefined) {
    const sinks = [pods, mirrors];
    parts.use(await StaticPods.open({ path: options.manifestPath, nodeName: name, clock, sinks, onError }));
  }
  const evictions = new EvictionManager({
    settings: options.eviction,
    pressure,
    machine,
    runtime,
    pods,
    files,
    logDirectory: options.logDirectory,
    clock,
    reclaimDisk: images && (() => images.removeUnused()),
    warn,
    record: podRecorder(recorder, name),
    changed: () => agentNode.updateNow(),
    onError,
  });
  const metrics = () => evictions.metrics();
  const endpointParts = { options, client, authority, paths, machine, metrics, clock, random, log, onError };
  const { port } = parts.use(
    await openAgentEndpoint({ ...endpointParts, directory: pods, requireSync: () => pods.requireSync() }),
  );
  const agentNode = parts.use(
    new AgentNode({
      client,
      settings: { ...options.node, port, version: gitVersion, declaredFeatures: [] },
      machine,
      runtime,
      pressures,
      clock,
      random,
      cached: node,
      record: (occurrence) => recorder.record(occurrence),
      onError,
    }),
  );
  parts.use(new RepeatedTask(clock, () => evictions.check()));
  parts.use(new RepeatedTask(clock, () => evictions.checkStorageLimits()));
  const { registered } = agentNode;
  const kept = parts.move();
  void registered.then(() => {
    // Pods are judged by the Node's resources and labels, so it has to exist first.
    if (kept.disposed) return;
    const followed = kept.use(followPods({ client, clock, random, nodeName: name, managerOf: () => pods, onError }));
    void followed.synced.then(() => mirrors.ready());
  });
  return { port, registered, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Watches the Node of this agent, which is all that the Node authorizer lets it see. */
function ownNode(
  client: Client,
  name: string,
  parts: Pick<AgentParts, "clock" | "random"> & { onError(error: unknown): void },
): Informer<Node> {
  return new Informer<Node>({
    ...parts,
    client,
    type: nodeType,
    selector: { fieldSelector: `metadata.name=${name}` },
  });
}
