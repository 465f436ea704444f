import { expect } from "bun:test";
import type { Kubectl } from "../conformance/kubectl.ts";
import { mergePatch, type TestServer } from "./server.ts";

const secrets = "/api/v1/namespaces/default/secrets";
const writers = [0, 1, 2];

/** Clients that write Secrets while the keys of the server change. */
export class SecretWriters {
  /** The last acknowledged count by name of the Secret and writer. */
  readonly #written = new Map<string, number>();
  readonly #done: Promise<unknown>;
  #isOver = false;

  constructor(server: TestServer, names: readonly string[]) {
    this.#done = Promise.all(writers.map((writer) => this.#write(server, names, writer)));
  }

  /** Ends them after the documented step, which writes every Secret with the new key. */
  async rewriteAll(kubectl: Kubectl): Promise<void> {
    const { stdout } = await kubectl.run(["get", "secrets", "-A", "-o", "json"]);
    const { stderr } = await kubectl.run(["replace", "-f", "-"], { input: stdout });
    // A conflict means that a writer was faster, and its write used the new key too.
    for (const line of stderr.split("\n")) if (line !== "") expect(line).toContain("the object has been modified");
    this.#isOver = true;
    await this.#done;
  }

  /** Expects every acknowledged write. */
  async check(server: TestServer): Promise<void> {
    expect((await server.get("/cluster/status")).json.encryption.unreadable).toBe(0);
    const { json } = await server.get(secrets);
    const found = new Map<string, any>(json.items.map((item: any) => [item.metadata.name, item.metadata.annotations]));
    for (const [place, count] of this.#written) {
      const [name = "", writer = ""] = place.split("/");
      expect(Number(found.get(name)?.[writer])).toBe(count);
    }
    expect(this.#written.size).toBeGreaterThan(0);
  }

  async #write(server: TestServer, names: readonly string[], writer: number): Promise<void> {
    for (let count = 1; !this.#isOver; count++) {
      const name = names[(count * writers.length + writer) % names.length] as string;
      const annotations = { [`w${writer}`]: String(count) };
      expect((await server.patch(`${secrets}/${name}`, mergePatch, { metadata: { annotations } })).code).toBe(200);
      this.#written.set(`${name}/w${writer}`, count);
    }
  }
}
