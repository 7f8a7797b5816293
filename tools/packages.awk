# Stanzas of a Debian package index (RFC 822 style, blank line between) as TSV rows with a header:
# package, architecture, version, section, installed_kib, description. Quoting as RFC 4180.
BEGIN {
    RS = ""
    FS = "\n"
    OFS = "\t"
    print "package", "architecture", "version", "section", "installed_kib", "description"
}

function field(text) {
    if (text ~ /[\t"\r]/) {
        gsub(/"/, "\"\"", text)
        return "\"" text "\""
    }
    return text
}

{
    split("", value)
    for (i = 1; i <= NF; i++) {
        if ($i !~ /^[ \t]/ && (colon = index($i, ": ")) > 0) {
            value[substr($i, 1, colon - 1)] = substr($i, colon + 2)
        }
    }
    if (value["Package"] != "" && value["Version"] != "") {
        print field(value["Package"]), field(value["Architecture"]), field(value["Version"]),
            field(value["Section"]), value["Installed-Size"] + 0, field(value["Description"])
    }
}
