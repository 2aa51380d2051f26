#!/bin/sh
# The steps of `cargo xtask release` that are commands: `release.sh STEP`, in the folder of the workspace. $VERSION is the new version,
# $TARGET that of this machine, $OUT the folder of the release.
set -eu
name=toolwright-$VERSION-$TARGET

# Clones the tree. The copy is built beside it, because Cargo would take the crates of one for those of the other. A later dry run finds
# the dependencies compiled; tools are those of the tree.
copy() {
    rm -rf target/release-source
    git clone --quiet . target/release-source
    mkdir -p target/release-build target/tools
    ln -sfn ../tools target/release-build/tools
    ln -s ../release-build target/release-source/target
    echo target/release-source
}

versions() {
    old=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
    sed -i "/^version = /s/\"$old\"/\"$VERSION\"/; /path = \"crates/s/version = \"$old\"/version = \"$VERSION\"/" Cargo.toml
    sed -i "s/^## Unreleased$/## $VERSION/" CHANGELOG.md
    for folder in . bridges fuzz bench/peers; do
        # Only the entries of the workspace's own crates change.
        cargo update --workspace --offline --quiet --manifest-path $folder/Cargo.toml
    done
    echo "from $old to $VERSION"
}

packages() {
    mkdir -p $OUT/crates
    cp target/packages/package/*.crate $OUT/crates
    ls $OUT/crates | wc -l
}

archive() {
    # Where `cargo binstall` looks.
    grep -Fq '/toolwright-{ version }-{ target }.tar.gz"' Cargo.toml
    grep -Fq 'bin-dir = "toolwright-{ version }-{ target }/{ bin }{ binary-ext }"' Cargo.toml
    cargo build --locked --profile dist --package toolwright-assistant --bin toolwright --features cluster
    target/dist/toolwright --version | grep -Fq " $VERSION"
    rm -rf target/archive
    mkdir -p target/archive/$name
    cp target/dist/toolwright CHANGELOG.md LICENSE README.md target/archive/$name
    cargo run --locked --quiet --package command-docs -- target/archive/$name
    # The same files give the same bytes: no names or times of this machine.
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=$(git log -1 --format=@%ct) \
        --use-compress-program 'gzip -n9' -C target/archive -cf $OUT/$name.tar.gz $name
    echo $name.tar.gz
}

container() {
    cp deploy/Dockerfile $OUT
    echo 'copied; the image is built where there is an engine'
}

server_json() {
    if [ -z "${MCP_NAME:-}" ]; then
        echo 'skipped: there is no MCP_NAME'
    else
        target/dist/toolwright publish --name "$MCP_NAME" --image "$IMAGE" --out $OUT/server.json
        echo "for $MCP_NAME"
    fi
}

checksums() {
    cd $OUT
    find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS
    sha256sum --check --quiet SHA256SUMS
    echo "$(wc -l <SHA256SUMS) files"
}

# Signs the checksums, and with them every file.
signature() {
    if [ -z "${SIGN_KEY:-}" ]; then
        echo 'skipped: there is no SIGN_KEY'
    else
        ssh-keygen -q -Y sign -f "$SIGN_KEY" -n toolwright-release $OUT/SHA256SUMS
        echo 'SHA256SUMS.sig; SECURITY.md says how it is verified'
    fi
}

list() {
    (cd $OUT && find . -type f -printf '%10s  %P\n' | sort -k 2)
    cat <<END

in $OUT

next, after a look at \`git diff\`:
  git commit --all --message 'release: $VERSION'
  git tag --sign v$VERSION --message v$VERSION && git push --follow-tags
  cargo publish --workspace
  upload the files to the release of the tag
  mcp-publisher publish    if there is a server.json
END
}

"$1"
