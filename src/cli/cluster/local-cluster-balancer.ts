import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../access/certificates/private-file.ts";

/** The settings of a load balancer in front of replicas. */
export interface BalancerOptions {
  /** `127.0.0.1:6443`, `:6443` for all addresses. */
  readonly bind: string;
  readonly servers: readonly { readonly name: string; readonly address: string }[];
  /** PEM of a certificate and its key for requests to /readyz; undefined if anonymous requests are accepted. */
  readonly probeCertificate?: string | undefined;
}

/**
 * Returns a configuration of haproxy. Connections pass through unchanged, and TLS ends at the replicas. A replica that is
 * not ready gets no connections, and its open ones are closed, so that clients move to another replica. A refused
 * connection goes to the next replica. The timeouts exceed an hour because a watch may be silent until the server ends
 * it, by default within an hour.
 */
export function haproxyConfig({ bind, servers, probeCertificate }: BalancerOptions): string {
  const certificate = probeCertificate === undefined ? "" : ` crt ${quoted(probeCertificate)}`;
  return `global
    log stdout format raw local0 notice
    fd-hard-limit 65536

defaults
    mode tcp
    log global
    retries 3
    option redispatch 1
    option clitcpka
    option srvtcpka
    timeout connect 2s
    timeout check 3s
    timeout client 70m
    timeout server 70m
    timeout client-fin 30s
    timeout server-fin 30s

frontend kubernetes
    bind ${bind}
    default_backend replicas

backend replicas
    balance leastconn
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host kubernetes hdr Connection close
    http-check expect status 200
    default-server check check-ssl verify none${certificate} inter 1s fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.map(({ name, address }) => `    server ${name} ${address}\n`).join("")}`;
}

export interface BalancerFiles extends Omit<BalancerOptions, "probeCertificate"> {
  /** The directory for the files. */
  readonly directory: string;
  /** The data directory of one of the replicas. */
  readonly dataDirectory: string;
}

/** Writes haproxy's files, and returns the path of its configuration. */
export async function writeHaproxyFiles({ directory, dataDirectory, ...options }: BalancerFiles): Promise<string> {
  const probeCertificate = join(directory, "haproxy.pem");
  // Use an administrator's certificate, which works in every --authorization-mode.
  const pair = ["admin.crt", "admin.key"].map((file) => readFileSync(join(dataDirectory, "pki", file), "utf8"));
  await writePrivateFile(probeCertificate, pair.join("\n"));
  const path = join(directory, "haproxy.cfg");
  await writePrivateFile(path, haproxyConfig({ ...options, probeCertificate }));
  return path;
}

/** Quotes the path strongly, so that haproxy expands nothing inside. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", `'"'"'`)}'`;
}

/** Finds haproxy, also in /usr/sbin, where Debian installs it but where not every user's PATH looks. */
export function findHaproxy(): string | undefined {
  const path = [process.env["PATH"] ?? "", "/usr/local/sbin", "/usr/sbin"].join(":");
  return Bun.which("haproxy", { PATH: path }) ?? undefined;
}
