import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../raft/testing/free-ports.ts";
import { until } from "../until.ts";

/** The kube-apiserver on the PATH; undefined without one. */
const binary = Bun.which("kube-apiserver") ?? undefined;
const token = "test-administrator";

/** Prints why the tests of a file do not run on a machine without kube-apiserver. Returns whether it has one. */
export function hasKubeApiserver(file: string): boolean {
  if (binary === undefined) console.warn(`${file}: not run, because no kube-apiserver is on the PATH`);
  return binary !== undefined;
}

export interface KubeApiserverOptions {
  readonly etcd: string;
  readonly featureGates: readonly string[];
  /** Further flags. */
  readonly flags?: readonly string[];
}

/** A real kube-apiserver of this test, on an etcd. */
export class KubeApiserver implements AsyncDisposable {
  readonly url: string;
  readonly #directory: string;
  readonly #child: Bun.Subprocess;

  private constructor(url: string, directory: string, child: Bun.Subprocess) {
    this.url = url;
    this.#directory = directory;
    this.#child = child;
  }

  static async start({ etcd, featureGates, flags: more = [] }: KubeApiserverOptions): Promise<KubeApiserver> {
    const directory = await mkdtemp(join(tmpdir(), "kube-apiserver-"));
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = join(directory, "service-accounts.key");
    await writeFile(key, privateKey.export({ type: "pkcs1", format: "pem" }));
    const tokens = join(directory, "tokens.csv");
    await writeFile(tokens, `${token},administrator,1,"system:masters"\n`);
    const port = await freePort();
    const flags = [
      `--etcd-servers=${etcd}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      "--advertise-address=192.0.2.1",
      `--cert-dir=${directory}`,
      `--token-auth-file=${tokens}`,
      "--authorization-mode=RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      "--service-cluster-ip-range=10.0.0.0/16",
      "--disable-admission-plugins=ServiceAccount",
      "--runtime-config=api/all=true",
      ...more,
      ...(featureGates.length === 0 ? [] : [`--feature-gates=${featureGates.map((gate) => `${gate}=true`).join(",")}`]),
    ];
    const child = Bun.spawn([binary as string, ...flags], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    const server = new KubeApiserver(`https://127.0.0.1:${port}`, directory, child);
    await until(() =>
      server.request("GET", "/readyz").then(
        ({ code }) => code === 200,
        () => false,
      ),
    );
    return server;
  }

  async request(method: string, path: string, body?: unknown, type = "application/json") {
    const response = await this.fetch(method, path, body, type);
    const text = await response.text();
    return {
      code: response.status,
      text,
      get json(): any {
        return JSON.parse(text);
      },
    };
  }

  fetch(method: string, path: string, body?: unknown, type = "application/json"): Promise<Response> {
    return fetch(this.url + path, {
      method,
      tls: { rejectUnauthorized: false },
      headers: { authorization: `Bearer ${token}`, "content-type": type },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
    await rm(this.#directory, { recursive: true, force: true });
  }
}
