// An npm registry on this machine, with packages that the test gives it.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** What happens to the download of an archive. */
export type DownloadFault = "altered" | "cut";

export interface NpmRegistry {
  url: string;
  /** The paths of all requests. */
  requests: string[];
  /** Applies to all downloads from now on. */
  setFault(fault: DownloadFault | undefined): void;
  stop(): Promise<void>;
}

interface PublishedPackage {
  name: string;
  version: string;
  /** Content by path, as in `package/package.json`. */
  files: Record<string, string | Buffer>;
}

export async function startNpmRegistry(published: PublishedPackage[]): Promise<NpmRegistry> {
  const packages = published.map(({ name, version, files }) => {
    const manifest = JSON.stringify({ name, version });
    const archive = gzipSync(createTar({ "package/package.json": manifest, ...files }));
    return { name, version, archive, path: `/${name}/-/archive-${version}.tgz` };
  });
  const requests: string[] = [];
  let fault: DownloadFault | undefined;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!);
    requests.push(path);
    const found = packages.find(({ name, path: archive }) => [`/${name}`, archive].includes(path));
    if (!found) return response.writeHead(404).end('{"error":"Not found"}');
    const { name, version, archive } = found;
    if (path === found.path) {
      if (fault === "cut") {
        response.writeHead(200, { "content-length": archive.length });
        response.write(archive.subarray(0, archive.length / 2), () => response.destroy());
        return;
      }
      return response.end(fault === "altered" ? gzipSync(createTar({})) : archive);
    }
    const dist = {
      tarball: `${url}${found.path}`,
      integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}`,
    };
    const body = {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { name, version, dist } },
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    setFault: (next) => {
      fault = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A tar archive of files, by path. */
export function createTar(files: Record<string, string | Buffer>): Buffer {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write("0000755\0", 100);
    header.write(`${bytes.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("        0", 148);
    header.write("ustar\0" + "00", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${(sum - 48).toString(8).padStart(6, "0")}\0 0`, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
