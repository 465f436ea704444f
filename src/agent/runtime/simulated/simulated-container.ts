import type { Pod } from "../../../api/types/core-v1.ts";
import { podHostname } from "../../pods/pod-hostname.ts";
import type { Scheduled } from "../../pods/schedule.ts";
import type { ContainerConfig, ContainerState, RuntimeContainer, RuntimeId, Sandbox } from "../runtime.ts";
import { RuntimeError } from "../runtime.ts";
import { type Behaviour, drawMs, drawMsOrNever, type Exit } from "./behaviour.ts";
import { type ContainerPlan, planContainer } from "./container-plan.ts";
import type { MadeFiles } from "./made-files.ts";
import { runShell, type ShellFiles, type ShellRun, type ShellWorld } from "./shell/run-shell.ts";
import type { Simulation } from "./simulation.ts";

type Ended = Pick<Exit, "code" | "message"> & { readonly reason?: string | undefined };

const killedCode = 137;

interface ContainerParts {
  readonly sandbox: Sandbox;
  readonly pod: Pod;
  readonly config: ContainerConfig;
  readonly files: MadeFiles;
}

/** One run of a container. It has no process: its end is an entry of the shared schedule. */
export class SimulatedContainer implements RuntimeContainer, Scheduled {
  readonly id: RuntimeId;
  readonly sandboxId: RuntimeId;
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  readonly imageRef: string;
  readonly environment: ContainerConfig["environment"];
  state: ContainerState = { kind: "created" };
  /** The course of its command, if that is understood and no rule decides the end. */
  script: ShellRun | undefined;
  readonly #simulation: Simulation;
  readonly #words: readonly string[];
  readonly #hostname: string;
  readonly #files: ShellFiles | undefined;
  readonly #plan: ContainerPlan;
  /** Called when it has exited. */
  readonly #waiting: (() => void)[] = [];
  readonly #onExit: (container: SimulatedContainer) => void;
  /** Its start and its end, by the steady clock. */
  #startedMs: number | undefined;
  #endedMs: number | undefined;
  /** Times from its start until its probes change. */
  #startupMs = Number.POSITIVE_INFINITY;
  #readyMs = Number.POSITIVE_INFINITY;
  #unhealthyMs = Number.POSITIVE_INFINITY;
  #end: Ended | undefined;

  /** @throws RuntimeError for an annotation that cannot be read */
  constructor(
    simulation: Simulation,
    { sandbox, pod, config, files }: ContainerParts,
    onExit: (container: SimulatedContainer) => void,
  ) {
    this.#plan = planContainer(simulation.rules, pod, config, simulation.random);
    this.#simulation = simulation;
    this.#onExit = onExit;
    this.id = simulation.newId();
    this.sandboxId = sandbox.id;
    this.podUid = sandbox.podUid;
    this.name = config.spec.name;
    this.attempt = config.attempt;
    this.image = config.spec.image ?? "";
    this.imageRef = config.imageRef;
    this.environment = config.environment;
    this.#words = [...(config.command ?? []), ...(config.args ?? [])];
    this.#hostname = podHostname(pod, "").name;
    // Containers without a command have no files either, which saves memory.
    const mounts = config.spec.volumeMounts ?? [];
    this.#files = this.#words.length === 0 ? undefined : files.seenBy(this.id, pod, mounts);
  }

  /** Returns the surroundings of a command that runs in the container now. */
  world(): ShellWorld {
    const environment = new Map([...this.environment, ["HOSTNAME", this.#hostname] as const]);
    return { environment, hostname: this.#hostname, nowMs: this.#simulation.clock.nowMs(), files: this.#files };
  }

  get behaviour(): Behaviour {
    return this.#plan.behaviour;
  }

  /** Time for which it has run. */
  get elapsedMs(): number {
    if (this.#startedMs === undefined) return 0;
    return (this.#endedMs ?? this.#simulation.clock.steadyMs()) - this.#startedMs;
  }

  /** Resolves when it has exited. */
  async ended(): Promise<void> {
    if (this.state.kind !== "exited") await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** @throws RuntimeError if the simulation makes it fail */
  start(): void {
    const { behaviour } = this;
    const { clock, random } = this.#simulation;
    if (this.state.kind !== "created") throw new RuntimeError("RunContainerError", "the container was started before");
    if (random() < behaviour.start.failureRate) throw new RuntimeError("RunContainerError", behaviour.start.message);
    this.state = { kind: "running", startedAtMs: clock.nowMs() };
    this.#startedMs = clock.steadyMs();
    this.#startupMs = drawMsOrNever(behaviour.startup, random);
    this.#readyMs = drawMsOrNever(behaviour.ready, random);
    this.#unhealthyMs = drawMsOrNever(behaviour.unhealthy, random);
    this.#planEnd();
  }

  /** Ends by itself after the time that it takes to stop, or is killed when the grace period is over. */
  stop(graceSeconds: number): Promise<void> {
    if (this.state.kind === "created") this.kill();
    if (this.state.kind === "running") {
      const { stop } = this.behaviour;
      const afterMs = drawMs(stop, this.#simulation.random);
      if (afterMs > graceSeconds * 1_000) this.#endAfter(graceSeconds * 1_000, { code: killedCode, message: "" });
      else this.#endAfter(afterMs, { code: stop.code, message: "" });
    }
    return this.ended();
  }

  /** Ends at once. */
  kill(): void {
    if (this.state.kind !== "exited") this.#finish({ code: killedCode, message: "" });
  }

  isSuccessful(kind: "startup" | "liveness" | "readiness"): boolean {
    if (this.state.kind !== "running") return false;
    const { elapsedMs } = this;
    if (kind === "startup") return elapsedMs >= this.#startupMs;
    if (elapsedMs >= this.#unhealthyMs) return false;
    return kind === "liveness" || elapsedMs >= this.#readyMs;
  }

  /** The end that was scheduled has come. */
  due(): void {
    if (this.state.kind === "running" && this.#end !== undefined) this.#finish(this.#end);
  }

  /** Draws when and how this run ends, and schedules it. */
  #planEnd(): void {
    const { random } = this.#simulation;
    const script = this.behaviour.exit === undefined ? this.#understoodCommand() : undefined;
    this.script = script;
    if (script !== undefined) return this.#endAfter(script.durationMs, { code: script.exitCode, message: "" });
    const exit = this.behaviour.exit ?? this.#plan.exitOtherwise;
    if (exit === "never") return;
    const { failureRate, code, failureCode, reason, message } = exit;
    const end = { code: random() < failureRate ? failureCode : code, reason, message };
    this.#endAfter(drawMs(exit, random), end);
  }

  #understoodCommand(): ShellRun | undefined {
    if (this.#words.length === 0) return undefined;
    const script = runShell(this.#words, this.world());
    return script.isUnderstood ? script : undefined;
  }

  #endAfter(afterMs: number, end: Ended): void {
    const { clock, schedule } = this.#simulation;
    this.#end = end;
    if (afterMs !== Number.POSITIVE_INFINITY) schedule.set(this, clock.steadyMs() + afterMs);
  }

  #finish({ code, reason, message }: Ended): void {
    const { clock, schedule } = this.#simulation;
    schedule.clear(this);
    this.#endedMs = clock.steadyMs();
    const finishedAtMs = clock.nowMs();
    const startedAtMs = this.state.kind === "running" ? this.state.startedAtMs : finishedAtMs;
    const ownReason = reason ?? (code === 0 ? "Completed" : "Error");
    this.state = { kind: "exited", startedAtMs, finishedAtMs, exitCode: code, reason: ownReason, message };
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#onExit(this);
  }
}
