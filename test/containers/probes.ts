// Connections that are tried from inside of containers.

import type { Copy } from './page';

/** True if a process in the container of this service can open a TCP connection. */
export async function reaches(copy: Copy, service: string, host: string, port: number) {
  const node = `node -e "const s=require('net').connect(${port},'${host}');s.setTimeout(3000,()=>process.exit(1)).on('connect',()=>process.exit()).on('error',()=>process.exit(1))"`;
  // The proxy has no Node.
  const shell = `if command -v nc > /dev/null; then nc -z -w 3 ${host} ${port}; else timeout 3 bash -c ': < /dev/tcp/${host}/${port}'; fi`;
  const probe = service === 'proxy' ? `sh -c "${shell}"` : node;
  const said = await copy.sh(
    `docker compose exec -T ${service} ${probe} > /dev/null 2>&1 && echo open || true`,
  );
  return said === 'open\n';
}

/** The packages in the container of this service, each with its version. */
export async function packagesIn(copy: Copy, service: string): Promise<string[]> {
  const list = (folder: string) => `
    const fs=require("fs");
    const walk=(at)=>fs.existsSync(at)&&fs.readdirSync(at).forEach((name)=>{
      const path=at+"/"+name, file=path+"/package.json";
      if(name.startsWith("@"))return walk(path);
      if(fs.existsSync(file)){const found=JSON.parse(fs.readFileSync(file));console.log(found.name+"@"+found.version)}
      walk(path+"/node_modules");
    });
    walk("${folder}")`;
  const said = await copy.sh(
    `docker compose exec -T ${service} node -e '${list('/app/node_modules')}'`,
  );
  return said.trim().split('\n');
}

/** The packages in an SBOM of npm, each with its version. */
export function listedIn(sbom: string): ReadonlySet<string> {
  const { components } = JSON.parse(sbom) as { components: readonly { purl: string }[] };
  return new Set(
    components.map(({ purl }) => decodeURIComponent(purl.replace(/^pkg:npm\/|\?.*$/g, ''))),
  );
}

const name = 'video-metadata';

/**
 * A host at the address where machines of clouds read their credentials, beyond this machine. This
 * machine gets a route to that one address, and no other address or route.
 */
export const metadataHost = {
  start: (copy: Copy) =>
    copy.sh(`
      ip netns add ${name}
      ip link add video-meta0 type veth peer name video-meta1 netns ${name}
      ip link set video-meta0 up && ip -n ${name} link set video-meta1 up
      ip -n ${name} addr add 169.254.169.254/32 dev video-meta1
      ip -n ${name} route add default dev video-meta1
      ip route add 169.254.169.254/32 dev video-meta0
      ip netns exec ${name} node -e "require('http').createServer((q,s)=>s.end()).listen(80)" > /dev/null 2>&1 < /dev/null &
      for try in $(seq 50); do curl -sf -m 1 -o /dev/null http://169.254.169.254/ && exit 0; sleep 0.1; done; exit 1`),
  stop: (copy: Copy) =>
    copy.sh(
      `set +e; kill -9 $(ip netns pids ${name}); ip link delete video-meta0; ip netns delete ${name}; true`,
    ),
};
