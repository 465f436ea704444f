import { readFileSync } from "node:fs";
import {
  CoreV1Api,
  createConfiguration,
  KubeConfig,
  ResponseContext,
  SelfDecodingBody,
  ServerConfiguration,
  wrapHttpLibrary,
} from "@kubernetes/client-node";

/**
 * The generated client on Bun's fetch. The client's own HTTP library passes certificates to an agent that Bun's fetch
 * does not support.
 */
export class Client {
  readonly core: CoreV1Api;
  readonly #tls: { readonly ca: string; readonly cert?: string; readonly key?: string };
  readonly #url: string;

  /** Creates a client from a kubeconfig's text. */
  static of(kubeconfig: string): Client {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    return new Client(config);
  }

  constructor(config: KubeConfig) {
    const cluster = config.getCurrentCluster();
    const { certData, keyData } = config.getCurrentUser() ?? {};
    this.#url = cluster?.server ?? "";
    this.#tls = {
      ca: cluster?.caFile === undefined ? atob(cluster?.caData ?? "") : readFileSync(cluster.caFile, "utf8"),
      ...(certData === undefined || keyData === undefined ? {} : { cert: atob(certData), key: atob(keyData) }),
    };
    this.core = new CoreV1Api(
      createConfiguration({
        baseServer: new ServerConfiguration(this.#url, {}),
        authMethods: { default: config },
        httpApi: wrapHttpLibrary({ send: (request) => this.#send(request) }),
      }),
    );
  }

  async #send(request: Parameters<Parameters<typeof wrapHttpLibrary>[0]["send"]>[0]): Promise<ResponseContext> {
    const response = await fetch(request.getUrl(), {
      method: request.getHttpMethod(),
      headers: request.getHeaders(),
      ...(request.getBody() === undefined ? {} : { body: request.getBody() as string }),
      tls: this.#tls,
    });
    const body = new SelfDecodingBody(response.arrayBuffer().then((bytes) => Buffer.from(bytes)));
    return new ResponseContext(response.status, Object.fromEntries(response.headers), body);
  }

  /** Watches for `ListWatch`: one line of JSON per event. */
  async watch(
    path: string,
    query: Record<string, string>,
    callback: (type: string, object: unknown, event: unknown) => void,
    done: (error: unknown) => void,
  ): Promise<AbortController> {
    const controller = new AbortController();
    const url = `${this.#url}${path}?${new URLSearchParams({ ...query, watch: "true" })}`;
    const read = async () => {
      const response = await fetch(url, { tls: this.#tls, signal: controller.signal });
      if (response.status !== 200) throw Object.assign(new Error(response.statusText), { code: response.status });
      const decoder = new TextDecoder();
      let rest = "";
      for await (const bytes of response.body as ReadableStream<Uint8Array>) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const event = JSON.parse(line) as { type: string; object: unknown };
          callback(event.type, event.object, event);
        }
      }
    };
    read().then(
      () => done(null),
      (error: unknown) => done(error),
    );
    return controller;
  }
}
