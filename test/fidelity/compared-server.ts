import { request } from "node:https";
import { cloneJson, isJsonObject, type JsonValue } from "../../src/api/json.ts";
import { type KubeconfigServer, readKubeconfig } from "../../src/client/kubeconfig.ts";
import { comparableStatus } from "../vectors/normalised.ts";
import { comparableAnswer } from "./fidelity-normalised.ts";
import { specifiedAnswer, specifiedCode } from "./specified-answer.ts";

export interface ComparedRequest {
  readonly method: string;
  /** Sent byte for byte. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer without the parts that differ between servers. */
export interface ComparedAnswer {
  readonly code: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly body: JsonValue;
}

const answerMsMax = 20_000;

/** The server of a kubeconfig. */
export class ComparedServer {
  readonly #server: KubeconfigServer;

  constructor(kubeconfig: string) {
    this.#server = readKubeconfig(kubeconfig);
  }

  async send({ method, target, headers, body }: ComparedRequest): Promise<ComparedAnswer> {
    const { tls, authorization } = await this.#server.proof();
    const { hostname, port } = new URL(this.#server.url);
    const sent = {
      "user-agent": "compare/1.0",
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      ...headers,
    };
    const { promise, resolve, reject } = Promise.withResolvers<ComparedAnswer>();
    const options = { ...tls, method, hostname, port, path: target, headers: sent, timeout: answerMsMax };
    const outgoing = request(options, async (incoming) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk as Buffer);
        const text = Buffer.concat(chunks).toString();
        const answer = comparableBody(text);
        resolve({
          code: specifiedCode(incoming.statusCode ?? 0, answer),
          contentType: incoming.headers["content-type"] ?? "",
          warnings: warningsIn(String(incoming.headers["warning"] ?? "")),
          body: comparableStatus(specifiedAnswer(answer)),
        });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${target} in time`)));
    outgoing.once("error", reject);
    outgoing.end(body);
    return promise;
  }
}

function warningsIn(header: string): string[] {
  return (header.match(/299 - "(?:[^"\\]|\\.)*"/g) ?? []).toSorted();
}

/** Returns the revision that a server has reached. */
const currentRevision = /(Too large resource version: \d+, current: )\d+/g;

/** Returns a document, or the events of a watch, one per line; a string for any other text. */
function comparableBody(sent: string): JsonValue {
  const text = sent.replace(currentRevision, "$1<rv>");
  const document = parsed(text);
  if (document !== undefined) return comparableAnswer(withoutOwnPaths(cloneJson(document)), "");
  const lines = text.trimEnd().split("\n").map(parsed);
  if (!lines.includes(undefined)) return lines.map((line) => comparableAnswer(cloneJson(line as JsonValue), ""));
  return comparableAnswer(text, "");
}

/** Returns the index of paths without those of health checks and of the server's own commands. */
function withoutOwnPaths(document: JsonValue): JsonValue {
  if (!isJsonObject(document) || !Array.isArray(document["paths"])) return document;
  return { ...document, paths: document["paths"].filter((path) => /^\/apis?\/./.test(String(path))) };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
