# "#define CAP_CHOWN  0" -> {"cap_chown",0},
/^#define[ \t]+CAP_[A-Z_]+[ \t]+[0-9]+[ \t]*$/ {
	printf "{\"%s\",%s},\n", tolower($2), $3
}
