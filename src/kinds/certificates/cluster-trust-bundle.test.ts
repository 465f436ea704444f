import { expect, test } from "bun:test";
import { refusal, updateRefusal } from "../testing.ts";

const path = "certificates.k8s.io/v1beta1/clustertrustbundles";
const authority =
  "-----BEGIN CERTIFICATE-----\n" +
  "MIIBNDCB56ADAgECAhR6+BPcVL92L4CBR8CEvz8D1QQHozAFBgMrZXAwDzENMAsGA1UEAwwEcm9vdDAgFw0yNjExMjExNjUy" +
  "NDlaGA8yMTI2MTAyODE2NTI0OVowDzENMAsGA1UEAwwEcm9vdDAqMAUGAytlcAMhADRAShCeL9hS6uoqouwd3ArxsK1qABSj" +
  "Za/2O7ON1TyJo1MwUTAdBgNVHQ4EFgQUT+9Xvyim85/gCTdefbFbXUFP4vQwHwYDVR0jBBgwFoAUT+9Xvyim85/gCTdefbFb" +
  "XUFP4vQwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQAJlHLbDA/rX4v7sxNVlcdcrF+D9WdLyNZ9QEO6CR+HxvhSVSSiL2na" +
  "LlC/GfKMYcH5oXt0aji7rqkj9977T+4F" +
  "\n-----END CERTIFICATE-----\n";
const leaf =
  "-----BEGIN CERTIFICATE-----\n" +
  "MIIBMTCB5KADAgECAhQfTGF3F9uaASxjRg+modCAuXtb5zAFBgMrZXAwDzENMAsGA1UEAwwEbGVhZjAgFw0yNjExMjExNjUy" +
  "NDlaGA8yMTI2MTAyODE2NTI0OVowDzENMAsGA1UEAwwEbGVhZjAqMAUGAytlcAMhADRAShCeL9hS6uoqouwd3ArxsK1qABSj" +
  "Za/2O7ON1TyJo1AwTjAdBgNVHQ4EFgQUT+9Xvyim85/gCTdefbFbXUFP4vQwHwYDVR0jBBgwFoAUT+9Xvyim85/gCTdefbFb" +
  "XUFP4vQwDAYDVR0TAQH/BAIwADAFBgMrZXADQQBiOXDpUeOS9xQ+MDD3fJU7s7kRZ+lU+/SreuOehKj2jV5WpaiaT2EZ7+iQ" +
  "3PYl561zhRfgyLLweSjZp1z2gr8N" +
  "\n-----END CERTIFICATE-----\n";
const invalidBundle = 'spec.trustBundle: Invalid value: "<value omitted>": ';

test.each([
  ["of no signer", bundle("roots", { trustBundle: authority })],
  ["of a signer", bundle("example.com:mesh:roots", { signerName: "example.com/mesh", trustBundle: authority })],
])("a bundle %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each([
  ["", "at least one trust anchor must be provided"],
  [leaf, "entry 0 does not have the CA bit set"],
  [authority + authority, "duplicate trust anchor (indices [0 1])"],
  [authority.replaceAll("CERTIFICATE", "THING"), "entry 0 has bad block type: THING"],
  ["-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n", "entry 0 does not parse as X.509"],
])("the anchors %j are refused", async (trustBundle, problem) => {
  expect(await refusal(path, bundle("roots", { trustBundle }))).toContain(invalidBundle + problem);
});

test.each([
  ["a:b", {}, 'ClusterTrustBundle without signer name must not have ":" in its name'],
  [
    "roots",
    { signerName: "example.com/mesh" },
    "ClusterTrustBundle for signerName example.com/mesh must be named with prefix example.com:mesh:",
  ],
])("the name %j with %j is refused", async (name, spec, problem) => {
  expect(await refusal(path, bundle(name, { ...spec, trustBundle: authority }))).toEqual([
    `metadata.name: Invalid value: "${name}": ${problem}`,
  ]);
});

test("the signer of a bundle stays", async () => {
  const name = "example.com:mesh:roots";
  const [before, after] = ["example.com/mesh", ""].map((signerName) =>
    bundle(name, { signerName, trustBundle: authority }),
  );
  expect(await updateRefusal(path, before ?? {}, after ?? {})).toContain(
    'spec.signerName: Invalid value: "": field is immutable',
  );
});

function bundle(name: string, spec: { signerName?: string; trustBundle: string }) {
  return { metadata: { name }, spec };
}
