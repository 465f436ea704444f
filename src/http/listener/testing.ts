import "reflect-metadata";
import * as x509 from "@peculiar/x509";

/** Certificates for tests of the listener, generated in each process. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}
export interface TestAuthority extends TestCertificate {
  issue(subject: string, options?: IssueOptions): Promise<TestCertificate>;
  /** The authority with another validity: the same name and key. */
  renewed(): Promise<string>;
}
interface IssueOptions {
  readonly usage?: "client" | "server" | "none";
  readonly notAfter?: Date;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const dayMs = 86_400_000;
const generateKeys = () => crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]) as Promise<CryptoKeyPair>;

export async function createAuthority(subject: string): Promise<TestAuthority> {
  const keys = await generateKeys();
  const selfSigned = (serialNumber: string) =>
    x509.X509CertificateGenerator.createSelfSigned({
      serialNumber,
      name: subject,
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(Date.now() + dayMs),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    });
  const root = await selfSigned("01");
  let serial = 1;
  return {
    key: await privateKeyPem(keys),
    cert: root.toString("pem"),
    renewed: async () => (await selfSigned("02")).toString("pem"),
    async issue(name, { usage = "client", notAfter = new Date(Date.now() + dayMs) } = {}) {
      const leafKeys = await generateKeys();
      const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
      const leaf = await x509.X509CertificateGenerator.create({
        serialNumber: (++serial).toString(16).padStart(2, "0"),
        subject: name,
        issuer: root.subject,
        notBefore: new Date(Date.now() - dayMs),
        notAfter,
        publicKey: leafKeys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.SubjectAlternativeNameExtension([
            { type: "dns", value: "localhost" },
            { type: "ip", value: "127.0.0.1" },
          ]),
          ...(usage === "none"
            ? []
            : [new x509.ExtendedKeyUsageExtension([usage === "client" ? clientAuth : serverAuth])]),
        ],
      });
      return { key: await privateKeyPem(leafKeys), cert: leaf.toString("pem") };
    },
  };
}

async function privateKeyPem({ privateKey }: CryptoKeyPair): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY");
}
