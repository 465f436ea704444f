import { runCommand } from "../run-command.ts";
import type { SwitchOptions } from "./ethernet-switch.ts";
import { type LinkRule, LinkRules } from "./link-rules.ts";

/** Port of the clients. A member's port is its number. */
export const clientPort = 0;
const subnet = "10.77.0";
/** Large frames, because every frame costs the switch a turn, and a loss still affects only one frame. */
const frameBytes = 16_000;

/** A network namespace for every member, the clients in this process's namespace, and a switch between them. */
export class Network implements AsyncDisposable {
  readonly ports: readonly number[];
  readonly #rules: LinkRules;
  readonly #switch: Worker;

  private constructor(members: number, rules: LinkRules, worker: Worker) {
    this.ports = Array.from({ length: members + 1 }, (_, port) => port);
    this.#rules = rules;
    this.#switch = worker;
  }

  static async open(members: number, seed: number): Promise<Network> {
    const rules = new LinkRules(members + 1);
    const worker = new Worker(new URL("./ethernet-switch.ts", import.meta.url).href);
    const network = new Network(members, rules, worker);
    const options: SwitchOptions = { devices: network.ports.map(deviceOf), rules: rules.memory, seed };
    const opened = nextMessage(worker);
    worker.postMessage(options);
    await opened;
    for (const port of network.ports) network.#connect(port);
    return network;
  }

  addressOf(port: number): string {
    return `${subnet}.${port + 1}`;
  }

  namespaceOf(port: number): string {
    return `m${port}`;
  }

  /** Returns the number of passed and lost frames since the start. */
  get frames(): { readonly passed: number; readonly lost: number } {
    return { passed: this.#rules.counted("passed"), lost: this.#rules.counted("lost") };
  }

  change(from: number, to: number, rule: Partial<LinkRule>): void {
    this.#rules.set(from, to, rule);
  }

  /** Restores every link between the members and to the clients. */
  heal(): void {
    for (const from of this.ports) for (const to of this.ports) this.#rules.clear(from, to);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = nextMessage(this.#switch);
    this.#rules.stop();
    await closed;
    this.#switch.terminate();
    for (const port of this.ports) if (port !== clientPort) runCommand("ip", "netns", "delete", this.namespaceOf(port));
  }

  #connect(port: number): void {
    const device = deviceOf(port);
    const inside = port === clientPort ? [] : ["-n", this.namespaceOf(port)];
    const ip = (...args: string[]) => runCommand("ip", ...inside, ...args);
    if (port !== clientPort) {
      runCommand("ip", "netns", "add", this.namespaceOf(port));
      runCommand("ip", "link", "set", device, "netns", this.namespaceOf(port));
    }
    ip("link", "set", "lo", "up");
    ip("link", "set", device, "address", `02:00:00:00:00:${port.toString(16).padStart(2, "0")}`);
    ip("addr", "add", `${this.addressOf(port)}/24`, "dev", device);
    ip("link", "set", device, "mtu", String(frameBytes), "up");
  }
}

function deviceOf(port: number): string {
  return `chaos${port}`;
}

function nextMessage(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
}
