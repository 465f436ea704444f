import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server as TlsServer } from "node:tls";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/access/certificates/authority.ts";
import { parseJoinToken } from "../../src/cluster/join-token.ts";
import { requestJoin } from "../../src/cluster/request-join.ts";
import { FakeCluster } from "../../src/cluster/testing.ts";
import { type ClusterServer, clusterServers } from "./cluster-server.ts";

const start = clusterServers();

const member = { name: "b", peerAddress: "10.0.0.2:7380", clientUrl: "https://10.0.0.2:6443" };
const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
const names = { commonName: "x", organizations: [], dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };

async function invitation(server: ClusterServer) {
  const { json } = await server.request("POST", "/cluster/tokens", {});
  return { endpoint: server.url, token: parseJoinToken(json.token), caHash: json.caHash as string, member };
}

/** Shows a certificate of its own beside a server's authority. */
class Impostor implements Disposable {
  readonly endpoint: string;
  received = "";
  readonly #listening: TlsServer;

  private constructor(listening: TlsServer) {
    this.#listening = listening;
    this.endpoint = `https://127.0.0.1:${(listening.address() as { port: number }).port}`;
    listening.on("secureConnection", (socket) => {
      socket.on("data", (data) => (this.received += data.toString()));
      socket.on("error", () => {});
    });
  }

  static async start(leaf: KeyPair, { ca }: ClusterServer): Promise<Impostor> {
    const listening = createServer({ key: leaf.key, cert: leaf.certificate + ca });
    await new Promise<void>((done) => listening.listen(0, "127.0.0.1", done));
    return new Impostor(listening);
  }

  [Symbol.dispose](): void {
    this.#listening.close();
  }
}

describe("a machine that joins", () => {
  test("gets in with the address of a member, a token and the hash of the authority", async () => {
    const server = await start();
    const answer = await requestJoin(await invitation(server));
    const { cluster, identity, peers } = server.parts;
    expect(answer.member).toEqual({ id: 2, ...member });
    expect(answer.members).toEqual(cluster.members());
    expect(answer.secrets).toEqual(identity.sharedSecrets(peers.rotating.authority));
  });

  test("is directed to the leader by a follower", async () => {
    const leader = await start();
    const followers = new FakeCluster("a", "b2");
    followers.leader = 2;
    const follower = await start({}, followers, leader);
    followers.members = () => [{ id: 2, name: "b2", peerAddress: "10.0.0.9:1", clientUrl: leader.url }];
    const answer = await requestJoin({ ...(await invitation(leader)), endpoint: follower.url });
    expect(answer.member.name).toBe("b");
    expect(follower.parts.seen).toEqual(["POST /cluster/join"]);
    expect(leader.parts.cluster.members()).toHaveLength(2);
  });

  test("sends nothing to a server whose authority has another hash", async () => {
    const server = await start();
    const asked = await invitation(server);
    const before = server.parts.seen.length;
    const caHash = `sha256:${"0".repeat(64)}`;
    await expect(requestJoin({ ...asked, caHash })).rejects.toThrow(/is not the expected server.*nothing was sent/);
    expect(server.parts.seen).toHaveLength(before);
    expect(server.parts.cluster.members()).toHaveLength(1);
  });

  test("sends nothing to a server that shows the right authority and has no certificate of it", async () => {
    const server = await start();
    const asked = await invitation(server);
    const forger = createAuthority({ commonName: "quorate-ca", ...validity });
    const leaf = issueCertificate(forger, { ...names, ...validity, usage: "server" });
    using impostor = await Impostor.start(leaf, server);
    const { endpoint } = impostor;
    await expect(requestJoin({ ...asked, endpoint })).rejects.toThrow(/not the server|not of the authority/);
    expect(impostor.received).toBe("");
  });

  test("sends nothing to a server whose certificate is for another name", async () => {
    const server = await start();
    const { identity } = server.parts;
    const elsewhere = { ...names, dnsNames: ["elsewhere.example"], ipAddresses: [] };
    const leaf = issueCertificate(identity.issuer, { ...elsewhere, ...validity, usage: "server" });
    using other = await Impostor.start(leaf, server);
    const asked = { ...(await invitation(server)), endpoint: other.endpoint };
    await expect(requestJoin(asked)).rejects.toThrow(/for another name/);
    expect(other.received).toBe("");
  });

  test("reports in one line when the server is a foreign one or does not answer", async () => {
    const server = await start();
    const asked = await invitation(server);
    const closing = createTcpServer((socket) => void socket.destroy());
    await new Promise<void>((done) => closing.listen(0, "127.0.0.1", done));
    const { port } = closing.address() as { port: number };
    const at = (endpoint: string) => requestJoin({ ...asked, endpoint });
    await expect(at(`https://127.0.0.1:${port}`)).rejects.toThrow(/^cannot reach https:\/\/127.0.0.1:\d+: /);
    closing.close();
    await expect(at(`https://127.0.0.1:${port}`)).rejects.toThrow(/nothing listens there/);
  });

  test("is told that its token is invalid, and that its name is taken", async () => {
    const server = await start();
    const asked = await invitation(server);
    const token = { ...asked.token, secret: "0000000000000000" };
    await expect(requestJoin({ ...asked, token })).rejects.toThrow(/token was not accepted/);
    await requestJoin(asked);
    await expect(requestJoin(asked)).rejects.toThrow(/member 2 already has this name/);
  });

  test.each(["with its authority", "self-signed"])(
    "knows a server whose certificate is the user's own, %s",
    async (form) => {
      const authority = createAuthority({ commonName: "company", ...validity });
      const leaf = issueCertificate(authority, { ...names, ...validity, usage: "server" });
      const directory = mkdtempSync(join(tmpdir(), "quorate-"));
      const [certFile, keyFile] = [join(directory, "tls.crt"), join(directory, "tls.key")];
      if (form === "self-signed") {
        const subject = ["-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"];
        const made = Bun.spawnSync([
          "openssl",
          "req",
          "-x509",
          "-newkey",
          "rsa:2048",
          "-nodes",
          "-keyout",
          keyFile,
          "-out",
          certFile,
          ...subject,
        ]);
        expect(made.exitCode).toBe(0);
      } else {
        writeFileSync(certFile, leaf.certificate + authority.certificate);
        writeFileSync(keyFile, leaf.key);
      }
      const server = await start({ tlsCertFile: certFile, tlsPrivateKeyFile: keyFile });
      const answer = await requestJoin(await invitation(server));
      rmSync(directory, { recursive: true });
      expect(answer.member.id).toBe(2);
      expect(answer.secrets.authority).toEqual(server.parts.identity.issuer);
    },
  );

  test("waits for a leader", async () => {
    const cluster = new FakeCluster("a");
    const server = await start({}, cluster);
    const asked = await invitation(server);
    cluster.leader = undefined;
    setTimeout(() => (cluster.leader = 1), 1_500);
    expect((await requestJoin(asked)).member.id).toBe(2);
  });
});
