/*
 * Makes nested_rows.jsonl: rows of random nested types, as JSON and as the BinaryRow that real
 * Paimon (InternalRowSerializer) makes of them, with its hash. Run it with the classes of
 * ../interop/oracle on the class path:
 *
 *     java -cp "oracle.jar:$(cat classpath.txt)" NestedRows.java > nested_rows.jsonl
 */
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.types.*;
import org.apache.paimon.utils.JsonSerdeUtil;

public class NestedRows {
    static final Random RANDOM = new Random(42);
    static int fieldId;

    static DataType atomic() {
        switch (RANDOM.nextInt(17)) {
            case 0: return new BooleanType();
            case 1: return new TinyIntType();
            case 2: return new SmallIntType();
            case 3: return new IntType();
            case 4: return new BigIntType();
            case 5: return new FloatType();
            case 6: return new DoubleType();
            case 7: return new DecimalType(18, 3);
            case 8: return new DecimalType(30, 2);
            case 9: return new DateType();
            case 10: return new TimeType(3);
            case 11: return new TimestampType(3);
            case 12: return new TimestampType(9);
            case 13: return new LocalZonedTimestampType(6);
            case 14: return new VarBinaryType(40);
            case 15: return new CharType(20);
            default: return VarCharType.STRING_TYPE;
        }
    }

    static DataType type(int depth) {
        switch (depth == 0 ? 9 : RANDOM.nextInt(8)) {
            case 0: case 1: return new ArrayType(type(depth - 1));
            case 2: return new MapType(RANDOM.nextInt(4) == 0 ? type(depth - 1) : atomic(), type(depth - 1));
            case 3: return new MultisetType(RANDOM.nextInt(4) == 0 ? type(depth - 1) : atomic());
            case 4: case 5: {
                List<DataField> fields = new ArrayList<>();
                int count = RANDOM.nextInt(12) == 0 ? 60 : 1 + RANDOM.nextInt(4);
                for (int i = 0; i < count; i++) {
                    fields.add(new DataField(fieldId++, "f" + i, type(depth - 1)));
                }
                return new RowType(fields);
            }
            default: return atomic();
        }
    }

    static String text() {
        String[] pieces = {"a", "b", "é", "\"", "\\", "\n", "longer", "😀", ",", "\u0001"};
        StringBuilder s = new StringBuilder();
        for (int n = RANDOM.nextInt(5); n > 0; n--) {
            s.append(pieces[RANDOM.nextInt(pieces.length)]);
        }
        return s.toString();
    }

    static Timestamp stamp(int precision) {
        long nanos = RANDOM.nextInt(1000000000);
        for (int i = precision, unit = 10; i < 9; i++, unit *= 10) {
            nanos -= nanos % unit;
        }
        long ms = (RANDOM.nextInt(400000000) - 100000000) * 10L * 1000L;
        return Timestamp.fromEpochMillis(ms + nanos / 1000000, (int) (nanos % 1000000));
    }

    static Object value(DataType t, boolean nullable) {
        if (nullable && RANDOM.nextInt(5) == 0) {
            return null;
        }
        switch (t.getTypeRoot()) {
            case BOOLEAN: return RANDOM.nextBoolean();
            case TINYINT: return (byte) RANDOM.nextInt();
            case SMALLINT: return (short) RANDOM.nextInt();
            case INTEGER: return RANDOM.nextInt();
            case BIGINT: return RANDOM.nextLong();
            case FLOAT: return RANDOM.nextInt(9) == 0 ? Float.NEGATIVE_INFINITY : RANDOM.nextFloat() * 1e9f;
            case DOUBLE: return RANDOM.nextInt(9) == 0 ? -0.0 : RANDOM.nextGaussian() * 1e40;
            case DECIMAL: {
                DecimalType d = (DecimalType) t;
                BigInteger u = new BigInteger(RANDOM.nextInt(d.getPrecision() * 3), RANDOM);
                return Decimal.fromBigDecimal(
                        new java.math.BigDecimal(RANDOM.nextBoolean() ? u : u.negate(), d.getScale()),
                        d.getPrecision(), d.getScale());
            }
            case DATE: return RANDOM.nextInt(40000) - 10000;
            case TIME_WITHOUT_TIME_ZONE: return RANDOM.nextInt(86400000);
            case TIMESTAMP_WITHOUT_TIME_ZONE: return stamp(((TimestampType) t).getPrecision());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE: return stamp(((LocalZonedTimestampType) t).getPrecision());
            case CHAR: case VARCHAR: return BinaryString.fromString(text());
            case VARBINARY: {
                byte[] b = new byte[RANDOM.nextInt(12)];
                RANDOM.nextBytes(b);
                return b;
            }
            case ARRAY: {
                Object[] a = new Object[RANDOM.nextInt(RANDOM.nextInt(8) == 0 ? 40 : 4)];
                for (int i = 0; i < a.length; i++) {
                    a[i] = value(((ArrayType) t).getElementType(), true);
                }
                return new GenericArray(a);
            }
            case MAP: return map(((MapType) t).getKeyType(), ((MapType) t).getValueType(), true);
            case MULTISET: return map(((MultisetType) t).getElementType(), new IntType(false), false);
            default: return row((RowType) t);
        }
    }

    static GenericMap map(DataType key, DataType value, boolean nullable) {
        Map<Object, Object> m = new LinkedHashMap<>();
        for (int n = RANDOM.nextInt(4); n > 0; n--) {
            m.put(value(key, true), value(value, nullable));
        }
        return new GenericMap(m);
    }

    static GenericRow row(RowType t) {
        GenericRow r = new GenericRow(t.getFieldCount());
        for (int i = 0; i < t.getFieldCount(); i++) {
            r.setField(i, value(t.getTypeAt(i), true));
        }
        return r;
    }

    static Method method(String type, String name, Class<?>... parameters) throws Exception {
        Method m = Class.forName("sinter.oracle." + type).getDeclaredMethod(name, parameters);
        m.setAccessible(true);
        return m;
    }

    public static void main(String[] args) throws Exception {
        Method toMap = method("Rows", "toMap", InternalRow.class, RowType.class);
        Method parse = method("Rows", "parseRow", JsonNode.class, RowType.class);
        Method write = method("Json", "write", Object.class);
        ObjectMapper mapper = new ObjectMapper();
        for (int i = 0; i < 130; ) {
            fieldId = 10;
            List<DataField> fields = new ArrayList<>();
            for (int n = 1 + RANDOM.nextInt(3), k = 0; k < n; k++) {
                fields.add(new DataField(k, "c" + k, type(3)));
            }
            RowType t = new RowType(fields);
            String json = (String) write.invoke(null, toMap.invoke(null, row(t), t));
            InternalRow read;
            try {
                read = (InternalRow) parse.invoke(null, mapper.readTree(json), t);
            } catch (Exception e) {
                continue;
            }
            if (!json.equals(write.invoke(null, toMap.invoke(null, read, t)))) {
                continue; /* a key that came twice */
            }
            BinaryRow b = new InternalRowSerializer(t).toBinaryRow(read);
            String line = "{\"id\":\"nested-" + i + "\",\"fields\":" + JsonSerdeUtil.toFlatJson(fields)
                    + ",\"row\":" + write.invoke(null, json) + ",\"binary_row\":\"" + HexFormat.of().formatHex(b.toBytes())
                    + "\",\"hash\":" + b.hashCode() + "}";
            if (line.length() < 1800) {
                System.out.println(line);
                i++;
            }
        }
    }
}
