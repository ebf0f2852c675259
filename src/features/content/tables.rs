//! What names suggest: the media types that `mime_guess` lacks or gets wrong.

/// A type that clients show as text, for text of no better known type.
pub(super) const PLAIN: &str = "text/plain";
/// The type of anything unknown.
pub(crate) const BINARY: &str = "application/octet-stream";
const SHELL: &str = "text/x-shellscript";
const TYPESCRIPT: &str = "text/typescript";

pub(super) type Table = [(&'static str, &'static str)];

/// Files known by their whole name or by its first part (`Dockerfile.dev`, `LICENSE-MIT`, `.env.production`); sorted,
/// in lower case.
#[rustfmt::skip]
pub(super) static NAMES: &Table = &[
    (".babelrc", "application/json"), (".bash_aliases", SHELL), (".bash_logout", SHELL), (".bash_profile", SHELL),
    (".bashrc", SHELL), (".bazelrc", PLAIN), (".clang-format", "application/yaml"), (".clang-tidy", "application/yaml"),
    (".curlrc", PLAIN), (".dockerignore", PLAIN), (".editorconfig", PLAIN), (".env", PLAIN), (".envrc", PLAIN),
    (".eslintignore", PLAIN), (".eslintrc", PLAIN), (".gitattributes", PLAIN), (".gitconfig", PLAIN),
    (".gitignore", PLAIN), (".gitkeep", PLAIN), (".gitmodules", PLAIN), (".htaccess", PLAIN), (".ignore", PLAIN),
    (".inputrc", PLAIN), (".mailmap", PLAIN), (".node-version", PLAIN), (".nojekyll", PLAIN), (".npmignore", PLAIN), (".npmrc", PLAIN),
    (".nvmrc", PLAIN), (".prettierignore", PLAIN), (".prettierrc", PLAIN), (".profile", SHELL),
    (".python-version", PLAIN), (".ruby-version", PLAIN), (".tool-versions", PLAIN), (".vimrc", PLAIN),
    (".wgetrc", PLAIN), (".zprofile", SHELL), (".zshenv", SHELL), (".zshrc", SHELL),
    ("authors", PLAIN),
    ("brewfile", "text/x-ruby"), ("build", PLAIN),
    ("changelog", PLAIN), ("changes", PLAIN), ("cmakelists.txt", "text/x-cmake"), ("codeowners", PLAIN),
    ("configure", SHELL), ("containerfile", "text/x-dockerfile"), ("contributing", PLAIN), ("contributors", PLAIN),
    ("copying", PLAIN), ("copyright", PLAIN),
    ("dockerfile", "text/x-dockerfile"),
    ("gemfile", "text/x-ruby"), ("gnumakefile", "text/x-makefile"), ("go.mod", PLAIN), ("go.sum", PLAIN),
    ("go.work", PLAIN), ("gradlew", SHELL),
    ("install", PLAIN),
    ("jenkinsfile", "text/x-groovy"), ("justfile", PLAIN),
    ("licence", PLAIN), ("license", PLAIN),
    ("maintainers", PLAIN), ("makefile", "text/x-makefile"), ("mvnw", SHELL),
    ("news", PLAIN), ("notice", PLAIN),
    ("owners", PLAIN),
    ("pipfile", "application/toml"), ("podfile", "text/x-ruby"), ("procfile", PLAIN),
    ("rakefile", "text/x-ruby"), ("readme", PLAIN),
    ("sconscript", "text/x-python"), ("sconstruct", "text/x-python"),
    ("thanks", PLAIN), ("todo", PLAIN),
    ("unlicense", PLAIN),
    ("vagrantfile", "text/x-ruby"), ("version", PLAIN),
    ("workspace", PLAIN),
];

/// Extensions that `mime_guess` does not know or takes for something else (`.ts` for video, `.rpm` for audio); sorted,
/// in lower case. Registered types are preferred, then what other programs use, then plain text.
#[rustfmt::skip]
pub(super) static EXTENSIONS: &Table = &[
    ("ac", PLAIN), ("adoc", "text/asciidoc"), ("am", PLAIN), ("asciidoc", "text/asciidoc"), ("astro", PLAIN),
    ("avsc", "application/json"), ("awk", "text/x-awk"),
    ("bash", SHELL), ("bat", PLAIN), ("bats", SHELL), ("bazel", PLAIN), ("bib", "text/x-bibtex"), ("bzl", PLAIN),
    ("c", "text/x-c"), ("cc", "text/x-c++"), ("cff", "application/yaml"), ("cjs", "text/javascript"), ("clj", "text/x-clojure"),
    ("cljc", "text/x-clojure"), ("cljs", "text/x-clojure"), ("cls", "text/x-tex"), ("cmake", "text/x-cmake"),
    ("code-workspace", "application/json"), ("cpp", "text/x-c++"), ("cr", PLAIN), ("cs", "text/x-csharp"),
    ("csh", SHELL), ("csproj", "text/xml"), ("csx", "text/x-csharp"), ("cts", TYPESCRIPT), ("cu", PLAIN),
    ("cuh", PLAIN), ("cxx", "text/x-c++"),
    ("d", PLAIN), ("dart", "text/x-dart"), ("deb", "application/vnd.debian.binary-package"), ("desktop", PLAIN),
    ("diff", "text/x-diff"), ("dist", PLAIN), ("dll", "application/vnd.microsoft.portable-executable"),
    ("dockerfile", "text/x-dockerfile"), ("dot", "text/vnd.graphviz"), ("dwg", "image/vnd.dwg"),
    ("editorconfig", PLAIN), ("edn", PLAIN), ("el", "text/x-emacs-lisp"), ("elm", PLAIN), ("env", PLAIN),
    ("erl", "text/x-erlang"), ("ex", "text/x-elixir"), ("example", PLAIN),
    ("exe", "application/vnd.microsoft.portable-executable"), ("expected", PLAIN), ("exs", "text/x-elixir"),
    ("fish", SHELL), ("frag", PLAIN), ("fs", PLAIN), ("fsi", PLAIN), ("fsproj", "text/xml"), ("fsx", PLAIN),
    ("gd", PLAIN), ("gemspec", "text/x-ruby"), ("gitignore", PLAIN), ("glsl", PLAIN), ("gn", PLAIN), ("gni", PLAIN),
    ("go", "text/x-go"), ("gql", "application/graphql"), ("gradle", PLAIN), ("graphql", "application/graphql"),
    ("groovy", "text/x-groovy"),
    ("h", "text/x-c"), ("haml", PLAIN), ("har", "application/json"), ("hcl", PLAIN), ("hh", "text/x-c++"),
    ("hlsl", PLAIN), ("hpp", "text/x-c++"), ("hrl", "text/x-erlang"), ("hs", "text/x-haskell"), ("hxx", "text/x-c++"),
    ("ico", "image/vnd.microsoft.icon"), ("iml", "text/xml"), ("inf", PLAIN), ("ino", "text/x-c++"), ("install", PLAIN),
    ("ipynb", "application/json"),
    ("j2", PLAIN), ("java", "text/x-java"), ("jinja", PLAIN), ("jl", "text/x-julia"), ("jsonc", "application/json"),
    ("jsonl", "application/x-ndjson"), ("jsx", "text/jsx"),
    ("ksh", SHELL), ("kt", "text/x-kotlin"), ("kts", "text/x-kotlin"),
    ("latex", "text/x-tex"), ("liquid", PLAIN), ("lisp", PLAIN), ("lock", PLAIN),
    ("m", PLAIN), ("m3u", "application/vnd.apple.mpegurl"), ("m3u8", "application/vnd.apple.mpegurl"), ("m4", PLAIN),
    ("m4a", "audio/mp4"), ("m4b", "audio/mp4"), ("manifest", PLAIN), ("map", "application/json"), ("mdx", "text/mdx"),
    ("mermaid", PLAIN), ("mf", PLAIN), ("mid", "audio/midi"), ("midi", "audio/midi"), ("mjs", "text/javascript"),
    ("mk", "text/x-makefile"), ("mkd", "text/markdown"), ("ml", "text/x-ocaml"), ("mli", "text/x-ocaml"), ("mm", PLAIN),
    ("mmd", PLAIN), ("mod", BINARY), ("mount", PLAIN), ("mtl", "model/mtl"), ("mts", TYPESCRIPT), ("mustache", PLAIN),
    ("ndjson", "application/x-ndjson"), ("nim", "text/x-nim"), ("ninja", PLAIN), ("nix", PLAIN), ("njk", PLAIN),
    ("nu", PLAIN), ("nuspec", "text/xml"),
    ("obj", "model/obj"), ("org", "text/x-org"), ("orig", PLAIN), ("otf", "font/otf"),
    ("patch", "text/x-diff"), ("pc", PLAIN), ("perl", "text/x-perl"), ("php", "text/x-php"), ("pl", "text/x-perl"),
    ("plantuml", PLAIN), ("plist", "text/xml"), ("pm", "text/x-perl"), ("po", "text/x-gettext-translation"),
    ("pod", "text/x-perl"), ("podspec", "text/x-ruby"), ("pom", "text/xml"), ("pot", "text/x-gettext-translation"),
    ("properties", PLAIN), ("props", "text/xml"), ("proto", "text/x-protobuf"), ("ps1", "text/x-powershell"),
    ("psd", "image/vnd.adobe.photoshop"), ("psd1", "text/x-powershell"), ("psm1", "text/x-powershell"), ("pub", PLAIN),
    ("pug", PLAIN), ("puml", PLAIN), ("purs", PLAIN), ("pxd", "text/x-python"), ("py", "text/x-python"),
    ("pyc", "application/x-python-code"), ("pyi", "text/x-python"), ("pyo", "application/x-python-code"),
    ("pyw", "text/x-python"), ("pyx", "text/x-python"),
    ("qmd", "text/markdown"),
    ("r", "text/x-r"), ("rake", "text/x-ruby"), ("rar", "application/vnd.rar"), ("rb", "text/x-ruby"), ("rej", PLAIN),
    ("rkt", PLAIN), ("rmd", "text/markdown"), ("rpm", "application/x-rpm"), ("rst", "text/x-rst"), ("rules", PLAIN),
    ("sample", PLAIN), ("sbt", "text/x-scala"), ("sc", "text/x-scala"), ("scala", "text/x-scala"), ("scm", PLAIN),
    ("sed", PLAIN), ("service", PLAIN), ("sh", SHELL), ("snap", PLAIN), ("socket", PLAIN), ("spec", PLAIN),
    ("sql", "application/sql"), ("sqlite", "application/vnd.sqlite3"), ("sqlite3", "application/vnd.sqlite3"),
    ("stderr", PLAIN), ("stdout", PLAIN), ("stl", "model/stl"), ("storyboard", "text/xml"), ("strings", PLAIN),
    ("sty", "text/x-tex"), ("sum", PLAIN), ("sv", PLAIN), ("svelte", "text/x-svelte"), ("swift", "text/x-swift"),
    ("target", PLAIN), ("targets", "text/xml"), ("tcl", "text/x-tcl"), ("template", PLAIN), ("tex", "text/x-tex"),
    ("tf", PLAIN), ("tfstate", "application/json"), ("tfvars", PLAIN), ("tgz", "application/gzip"), ("thrift", PLAIN),
    ("timer", PLAIN), ("tmpl", PLAIN), ("toml", "application/toml"), ("topojson", "application/json"), ("tpl", PLAIN),
    ("ts", TYPESCRIPT), ("tsx", "text/tsx"), ("typed", PLAIN),
    ("vbproj", "text/xml"), ("vcf", "text/vcard"), ("vcxproj", "text/xml"), ("vert", PLAIN), ("vim", PLAIN),
    ("vue", "text/x-vue"), ("vy", PLAIN),
    ("wat", PLAIN), ("wgsl", PLAIN), ("woff", "font/woff"),
    ("xib", "text/xml"),
    ("yaml", "application/yaml"), ("yml", "application/yaml"),
    ("zig", "text/x-zig"), ("zsh", SHELL), ("zst", "application/zstd"),
];

/// Types that are text although they are neither `text/*` nor end in `+json`, `+xml` or `+yaml`; sorted.
#[rustfmt::skip]
pub(super) static TEXT_TYPES: &[&str] = &[
    "application/graphql", "application/hjson", "application/javascript", "application/json", "application/json5",
    "application/mbox", "application/n-quads", "application/n-triples", "application/postscript",
    "application/relax-ng-compact-syntax", "application/rtf", "application/sdp", "application/sparql-query",
    "application/sql", "application/toml", "application/trig", "application/vnd.apple.mpegurl", "application/x-ndjson",
    "application/x-ns-proxy-autoconfig", "application/x-research-info-systems", "application/x-subrip",
    "application/x-texinfo", "application/x-troff", "application/x-troff-man", "application/x-troff-me",
    "application/x-troff-ms", "application/xml", "application/yaml", "application/yang", "model/mtl", "model/obj",
];
