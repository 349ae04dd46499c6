# For Nix: nix-build -E '(import <nixpkgs> { }).callPackage ./package.nix { }'
{ lib, stdenv, meson, ninja, pkg-config, libcap, cjson, bearssl }:

stdenv.mkDerivation {
  pname = "distinit";
  version = "0.2.0";
  src = ../..;

  nativeBuildInputs = [ meson ninja pkg-config ];
  buildInputs = [ libcap cjson bearssl ];

  meta = {
    description = "Container entrypoint for distributed training";
    license = lib.licenses.asl20;
    platforms = lib.platforms.linux;
    mainProgram = "distinit";
  };
}
