import { expect, test } from "bun:test";
import { createRequest } from "../../access/certificates/authority.ts";
import { parseCertificateRequest } from "../../access/certificates/certificate-request.ts";
import { digestedName } from "./request-certificate.ts";

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYnQ/Zbz9PVReXwB6
nRDTCtxt37LMl3awYWyzOlNUVCmhRANCAATam85YhrZvfhWOVONuAByhagZnT4Cc
zrYYAbavLeGCV6YqQyY+YUymcNiJnktJN8sk82RtxgT6lQ325G2MkcSD
-----END PRIVATE KEY-----
`;

test("a request has kubelet's name for its key and contents", () => {
  const usages = ["digital signature", "client auth"];
  expect(digestedName(key, "system:node:node-1", usages)).toBe("node-csr-cU-_Fto7j7qlHv1ARydecS38u9K7eGUbQXMlhmar1Hs");
});

test("a request for a serving certificate names the node, its group and its addresses", () => {
  const { request } = createRequest({
    commonName: "system:node:node-1",
    organizations: ["system:nodes"],
    dnsNames: ["node-1"],
    ipAddresses: ["10.0.0.5", "fd00::5"],
    key,
  });
  expect(parseCertificateRequest(request)).toMatchObject({
    commonName: "system:node:node-1",
    organizations: ["system:nodes"],
    nameCounts: { dns: 1, ip: 2, email: 0, uri: 0 },
  });
});
