import { expect, test } from "bun:test";
import type { CertificateRequest } from "../../access/certificates/certificate-request.ts";
import { builtInSigners } from "./signers.ts";

const noNames = { email: 0, dns: 0, uri: 0, ip: 0 };
const nodeRequest: CertificateRequest = {
  subject: Buffer.from(""),
  commonName: "system:node:a",
  organizations: ["system:nodes"],
  publicKeyInfo: Buffer.from(""),
  alternativeNames: undefined,
  nameCounts: noNames,
};
const client = ["digital signature", "client auth"];
const serving = ["digital signature", "server auth"];

test.each<[signer: string, change: Partial<CertificateRequest>, usages: string[], problem: string | undefined]>([
  ["kube-apiserver-client-kubelet", {}, client, undefined],
  ["kube-apiserver-client-kubelet", {}, [...client, "key encipherment"], undefined],
  [
    "kube-apiserver-client-kubelet",
    {},
    ["client auth"],
    "usages did not match [client auth digital signature key encipherment]",
  ],
  [
    "kube-apiserver-client-kubelet",
    {},
    serving,
    "usages did not match [client auth digital signature key encipherment]",
  ],
  ["kube-apiserver-client-kubelet", { organizations: [] }, client, "subject organization is not system:nodes"],
  [
    "kube-apiserver-client-kubelet",
    { organizations: ["system:nodes", "b"] },
    client,
    "subject organization is not system:nodes",
  ],
  [
    "kube-apiserver-client-kubelet",
    { commonName: "a" },
    client,
    "subject common name does not begin with system:node:",
  ],
  [
    "kube-apiserver-client-kubelet",
    { nameCounts: { ...noNames, dns: 1 } },
    client,
    "DNS subjectAltNames are not allowed",
  ],
  [
    "kube-apiserver-client-kubelet",
    { nameCounts: { ...noNames, email: 1 } },
    client,
    "Email subjectAltNames are not allowed",
  ],
  [
    "kube-apiserver-client-kubelet",
    { nameCounts: { ...noNames, ip: 1 } },
    client,
    "IP subjectAltNames are not allowed",
  ],
  [
    "kube-apiserver-client-kubelet",
    { nameCounts: { ...noNames, uri: 1 } },
    client,
    "URI subjectAltNames are not allowed",
  ],
  ["kubelet-serving", { nameCounts: { ...noNames, ip: 1 } }, serving, undefined],
  ["kubelet-serving", { nameCounts: { ...noNames, dns: 2 } }, [...serving, "key encipherment"], undefined],
  ["kubelet-serving", {}, serving, "DNS or IP subjectAltName is required"],
  ["kubelet-serving", { nameCounts: { ...noNames, dns: 1, uri: 1 } }, serving, "URI subjectAltNames are not allowed"],
  [
    "kubelet-serving",
    { nameCounts: { ...noNames, dns: 1 } },
    client,
    "usages did not match [digital signature key encipherment server auth]",
  ],
  [
    "kubelet-serving",
    { nameCounts: { ...noNames, dns: 1 }, commonName: "a" },
    serving,
    "subject common name does not begin with system:node:",
  ],
  ["kube-apiserver-client", { organizations: [], commonName: "jane" }, ["client auth"], undefined],
  ["kube-apiserver-client", {}, ["client auth", "server auth"], "invalid usage for client certificate: server auth"],
  ["kube-apiserver-client", {}, ["digital signature"], "missing required usage for client certificate: client auth"],
])("kubernetes.io/%s judges %p with %p", (signer, change, usages, problem) => {
  expect(builtInSigners.get(`kubernetes.io/${signer}`)?.({ ...nodeRequest, ...change }, usages)).toBe(
    problem as string,
  );
});
