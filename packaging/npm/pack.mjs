// Packs the npm packages: one with the program for each platform, and the main one, whose launcher starts it.
//
//   PROGRAM=target/.../mcp-fs node packaging/npm/pack.mjs DIST
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const dist = process.argv[2];
const metadata = execFileSync("cargo", ["metadata", "--locked", "--no-deps", "--format-version", "1"]);
const { name, version, description, license, keywords } = JSON.parse(metadata).packages[0];
const common = { version, description, license, keywords };
const platform = { name: `${name}-linux-x64`, os: ["linux"], cpu: ["x64"] };

pack(
  { name: platform.name, ...common, os: platform.os, cpu: platform.cpu },
  { [process.env.PROGRAM]: "bin/mcp-fs", LICENSE: "LICENSE" },
);
pack(
  {
    name,
    ...common,
    bin: { [name]: "bin/launcher.js" },
    engines: { node: ">=18" },
    optionalDependencies: { [platform.name]: version },
  },
  { "packaging/npm/launcher.js": "bin/launcher.js", "README.md": "README.md", LICENSE: "LICENSE" },
);

function pack(manifest, files) {
  const tree = mkdtempSync(join(tmpdir(), "mcp-fs-npm-"));
  mkdirSync(join(tree, "bin"));
  for (const [from, to] of Object.entries(files)) cpSync(from, join(tree, to));
  for (const to of Object.values(files)) chmodSync(join(tree, to), to.startsWith("bin/") ? 0o755 : 0o644);
  writeFileSync(join(tree, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", dist], { cwd: tree, stdio: "inherit" });
  rmSync(tree, { recursive: true });
}
