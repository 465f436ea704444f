import { describe, expect, test } from "bun:test";
import { createAuthority } from "../../access/certificates/authority.ts";
import { pinOf } from "../../access/certificates/certificate-pin.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import { detachedSignature } from "../../controllers/bootstrap-tokens.ts";
import { verifyClusterInfo } from "./verify-cluster-info.ts";

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 60_000 };
const authority = createAuthority({ commonName: "authority", ...validity }).certificate;
const pin = pinOf(authority);
const otherPin = pinOf(createAuthority({ commonName: "other", ...validity }).certificate);
const token = { id: "abcdef", secret: "0123456789abcdef" };
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: ""
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: ${btoa(authority)}
`;

const info = (change: Record<string, string> = {}): ConfigMap => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "cluster-info", namespace: "kube-public" },
  data: { kubeconfig, ...change },
});
const signedWith = (key: string) => ({ "jws-kubeconfig-abcdef": detachedSignature(kubeconfig, "abcdef", key) });

describe("cluster-info is trusted", () => {
  test.each([
    ["the secret of the token", token.secret],
    ["the whole token", "abcdef.0123456789abcdef"],
  ])("when it is signed with %s", (_name, key) => {
    expect(verifyClusterInfo(info(signedWith(key)), token, undefined)).toBe(authority);
  });

  test("when its authority has the hash", () => {
    expect(verifyClusterInfo(info(), token, pin)).toBe(authority);
    expect(verifyClusterInfo(info(signedWith(token.secret)), token, pin)).toBe(authority);
  });
});

describe("cluster-info is refused", () => {
  const [header = "", , mac = ""] = detachedSignature(kubeconfig, "abcdef", token.secret).split(".");
  const otherHeader = Buffer.from('{"alg":"none","kid":"abcdef"}').toString("base64url");
  test.each<[string, Record<string, string>, string | undefined, RegExp]>([
    ["without a signature and a hash", {}, undefined, /not signed with this token.*give --ca-hash/],
    ["with another hash", {}, otherPin, /no authority in cluster-info has the hash/],
    ["with a signature of another secret", signedWith("x"), undefined, /not signed with this token/],
    ["with a wrong signature, even if the hash is right", signedWith("x"), pin, /not signed with this token/],
    ["with another algorithm", { "jws-kubeconfig-abcdef": `${otherHeader}..` }, undefined, /not signed/],
    ["with its contents inside", { "jws-kubeconfig-abcdef": `${header}.e30.${mac}` }, undefined, /not signed/],
    ["with changed contents", { ...signedWith(token.secret), kubeconfig: "clusters: []" }, undefined, /not signed/],
    ["without an authority", { kubeconfig: "clusters: []" }, pin, /names no authority/],
  ])("%s", (_name, change, hash, message) => {
    expect(() => verifyClusterInfo(info(change), token, hash)).toThrow(message);
  });

  test("and the error does not contain the token", () => {
    expect(() => verifyClusterInfo(info(signedWith("x")), token, undefined)).not.toThrow(token.secret);
  });
});
