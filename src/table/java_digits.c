/*
 * The number is a quotient b / s of whole numbers between 1 and 10, times a power of ten, and half
 * of its last place is m / s. Digits are divided off until what is left, or what is missing to the
 * next digit, is less than m: another number is farther away then. Where this finds more digits
 * than needed it is for three reasons, which are Java's: m is taken for the same on both sides of a
 * power of two, numbers printed with an exponent get a second digit in any case, and whole numbers
 * are printed as they are.
 */
#include "table/java_digits.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    LIMBS = 48, /* 1536 bits: the smallest double times 10^324 has less than 1200 */
    LIMB_BITS = 32,
    LONG_BITS = 64,
    DOUBLE_BITS = 53, /* with the one that isn't stored */
    DOUBLE_BIAS = 1023,
    FLOAT_BITS = 24,
    FLOAT_BIAS = 127,
    WHOLE_EXPONENT_MAX = 62, /* of two: larger whole numbers are no long */
    WHOLE_EXPONENT_MIN = -21,
    PLAIN_EXPONENT_MIN = -3, /* of ten; outside of these there is an exponent */
    PLAIN_EXPONENT_MAX = 7,
    FIVES_MEASURED = 27 /* powers of 5 below this one have a known size, others are estimated */
};

/* ---- whole numbers of any size ---- */

/* The lowest limb first; none above `count`. */
typedef struct whole {
    uint32_t limbs[LIMBS];
    int count;
} whole;

static void
set(whole *self, uint64_t value)
{
    self->limbs[0] = (uint32_t)value;
    self->limbs[1] = (uint32_t)(value >> LIMB_BITS);
    self->count = self->limbs[1] != 0 ? 2 : (self->limbs[0] != 0 ? 1 : 0);
}

static void
multiply(whole *self, uint32_t factor)
{
    uint64_t carry = 0;

    for (int i = 0; i < self->count; i++) {
        carry += (uint64_t)self->limbs[i] * factor;
        self->limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry != 0) {
        assert(self->count < LIMBS);
        self->limbs[self->count++] = (uint32_t)carry;
    }
}

/* Times 5^fives * 2^twos. */
static void
scale(whole *self, int fives, int twos)
{
    const int shift = twos % LIMB_BITS;
    const int limbs = twos / LIMB_BITS;

    assert(fives >= 0 && twos >= 0);
    for (; fives >= 13; fives -= 13) {
        multiply(self, 1220703125); /* 5^13 */
    }
    for (; fives > 0; fives--) {
        multiply(self, 5);
    }
    multiply(self, (uint32_t)1 << shift);
    if (self->count > 0 && limbs > 0) {
        assert(self->count + limbs <= LIMBS);
        memmove(self->limbs + limbs, self->limbs, (size_t)self->count * sizeof self->limbs[0]);
        memset(self->limbs, 0, (size_t)limbs * sizeof self->limbs[0]);
        self->count += limbs;
    }
}

static int
compare(const whole *a, const whole *b)
{
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (int i = a->count - 1; i >= 0; i--) {
        if (a->limbs[i] != b->limbs[i]) {
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
        }
    }
    return 0;
}

/* Is a + b less than, equal to, or greater than c? */
static int
compare_sum(const whole *a, const whole *b, const whole *c)
{
    const whole *more = a->count > b->count ? a : b;
    const whole *less = more == a ? b : a;
    whole sum = *more;
    uint64_t carry = 0;

    for (int i = 0; i < more->count; i++) {
        carry += (uint64_t)more->limbs[i] + (i < less->count ? less->limbs[i] : 0);
        sum.limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry != 0) {
        assert(sum.count < LIMBS);
        sum.limbs[sum.count++] = (uint32_t)carry;
    }
    return compare(&sum, c);
}

/* Take b away, which is not greater. */
static void
subtract(whole *self, const whole *b)
{
    int64_t borrow = 0;

    for (int i = 0; i < self->count; i++) {
        borrow += (int64_t)self->limbs[i] - (i < b->count ? b->limbs[i] : 0);
        self->limbs[i] = (uint32_t)borrow;
        borrow >>= LIMB_BITS;
    }
    while (self->count > 0 && self->limbs[self->count - 1] == 0) {
        self->count--;
    }
}

/* ---- digits ---- */

/* A number that is taken apart: 1.bits * 2^exponent. */
typedef struct binary {
    uint64_t bits;   /* the highest at DOUBLE_BITS - 1 */
    int exponent;    /* of the highest */
    int significant; /* bits that the number's form has */
} binary;

typedef struct division {
    whole rest; /* b */
    whole divisor;
    whole tens; /* ten times the divisor */
    whole half_place;
    int room;     /* bits that Java has for it: of an int, of a long, or 0: as many as are needed */
    bool is_low;  /* digits are enough, */
    bool is_high; /* and are if the last is one more */
} division;

/* Bits of a power of five, as Java estimates them. */
static int
bits_of_fives(int fives)
{
    if (fives >= FIVES_MEASURED) {
        return 3 * fives;
    }
    return fives == 0 ? 0 : fives * 2321928 / 1000000 + 1;
}

/* The power of ten of the first digit, or one more. */
static int
estimate_exponent(const binary *number)
{
    const double fraction =
        (double)number->bits / (double)(UINT64_C(1) << (DOUBLE_BITS - 1)); /* 1 <= it < 2 */

    return (int)floor((fraction - 1.5) * 0.289529654 + 0.176091259 +
                      (double)number->exponent * 0.301029995663981);
}

static int
room_of(int rest_bits, int tens_bits)
{
    const int bits = rest_bits > tens_bits ? rest_bits : tens_bits;

    return bits < LIMB_BITS ? LIMB_BITS : bits < LONG_BITS ? LONG_BITS : 0;
}

static void
begin(const binary *number, int exponent, division *out)
{
    const int tail = __builtin_ctzll(number->bits);
    const int bits = DOUBLE_BITS - tail;
    const int tiny = bits - number->exponent - 1 > 0 ? bits - number->exponent - 1 : 0;
    const int rest_fives = exponent < 0 ? -exponent : 0;
    const int divisor_fives = exponent > 0 ? exponent : 0;
    int rest_twos = rest_fives + tiny + number->exponent;
    int divisor_twos = divisor_fives + tiny;
    int half_twos = rest_twos - number->significant;
    int common = 0;

    rest_twos -= bits - 1;
    common = rest_twos < divisor_twos ? rest_twos : divisor_twos;
    rest_twos -= common;
    divisor_twos -= common;
    half_twos -= common + (bits == 1 ? 1 : 0);
    if (half_twos < 0) {
        rest_twos -= half_twos;
        divisor_twos -= half_twos;
        half_twos = 0;
    }
    set(&out->rest, number->bits >> tail);
    scale(&out->rest, rest_fives, rest_twos);
    set(&out->divisor, 1);
    scale(&out->divisor, divisor_fives, divisor_twos);
    out->tens = out->divisor;
    multiply(&out->tens, 10);
    set(&out->half_place, 1);
    scale(&out->half_place, rest_fives, half_twos);
    out->room = room_of(bits + rest_twos + bits_of_fives(rest_fives),
                        divisor_twos + 1 + bits_of_fives(divisor_fives + 1));
}

static uint64_t
low_bits(const whole *self)
{
    return (self->count > 0 ? self->limbs[0] : 0) |
           (self->count > 1 ? (uint64_t)self->limbs[1] << LIMB_BITS : 0);
}

/* What an int or a long makes of a number: it overflows. */
static int64_t
in_room(const division *self, uint64_t bits)
{
    return self->room == LIMB_BITS ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

/* May the digit before be the last one, as it is or as one more? */
static void
look_around(division *self)
{
    const int64_t half = in_room(self, low_bits(&self->half_place));

    if (self->room == 0) {
        self->is_low = compare(&self->rest, &self->half_place) < 0;
        self->is_high = compare_sum(&self->rest, &self->half_place, &self->tens) >= 0;
    } else {
        const uint64_t rest = low_bits(&self->rest);

        self->is_low = half <= 0 || in_room(self, rest) < half;
        self->is_high = half <= 0 ||
                        in_room(self, rest + (uint64_t)half) > in_room(self, low_bits(&self->tens));
    }
}

/* Divide the next digit off. */
static char
next_digit(division *self)
{
    char digit = '0';

    while (compare(&self->rest, &self->divisor) >= 0) {
        subtract(&self->rest, &self->divisor);
        digit++;
    }
    multiply(&self->rest, 10);
    multiply(&self->half_place, 10);
    look_around(self);
    return digit;
}

static void
round_up(sinter__java_digits *self)
{
    int at = self->count - 1;

    while (at > 0 && self->text[at] == '9') {
        self->text[at--] = '0';
    }
    if (self->text[at] == '9') {
        self->text[at] = '1';
        self->exponent++;
    } else {
        self->text[at]++;
    }
}

/* Is twice the rest less than, equal to, or greater than ten divisors? */
static int
compare_double(const division *self)
{
    int64_t difference = 0;

    if (self->room == 0) {
        return compare_sum(&self->rest, &self->rest, &self->tens);
    }
    difference = in_room(self, 2 * low_bits(&self->rest) - low_bits(&self->tens));
    return (difference > 0) - (difference < 0);
}

/* Is the last digit to be one more? */
static bool
is_nearer_above(const division *self, char last)
{
    int order = 0;

    if (!self->is_low || !self->is_high) {
        return self->is_high;
    }
    order = compare_double(self);
    return order > 0 || (order == 0 && (last & 1) != 0);
}

static void
divide(const binary *number, sinter__java_digits *out)
{
    division at;
    char digit = '0';

    out->exponent = estimate_exponent(number);
    begin(number, out->exponent, &at);
    digit = next_digit(&at);
    if (digit == '0' && !at.is_high) {
        out->exponent--;
    } else {
        out->text[out->count++] = digit;
    }
    if (out->exponent < PLAIN_EXPONENT_MIN || out->exponent > PLAIN_EXPONENT_MAX) {
        at.is_low = at.is_high = false;
    }
    while (!at.is_low && !at.is_high && out->count < SINTER__JAVA_DIGITS_MAX) {
        out->text[out->count++] = next_digit(&at);
    }
    if (is_nearer_above(&at, out->text[out->count - 1])) {
        round_up(out);
    }
}

/* ---- whole numbers ---- */

/* Digits of a long, without the zeros at its end, and without those that its form doesn't hold. */
static void
print_whole(uint64_t value, int insignificant, sinter__java_digits *out)
{
    char reversed[SINTER__JAVA_DIGITS_MAX];
    int count = 0;
    uint64_t power = 1;

    for (int i = 0; i < insignificant; i++) {
        power *= 10;
    }
    value = value / power + (insignificant > 0 && value % power >= power / 2 ? 1 : 0);
    out->exponent = insignificant - 1;
    while (value % 10 == 0) {
        value /= 10;
        out->exponent++;
    }
    for (; value > 0; value /= 10) {
        reversed[count++] = (char)('0' + value % 10);
        out->exponent++;
    }
    while (count > 0) {
        out->text[out->count++] = reversed[--count];
    }
}

/* Digits of a whole number of so many bits that can't be told from others. */
static int
insignificant_digits(int bits)
{
    return bits > 1 ? bits * 30103 / 100000 : 0;
}

static void
take_apart(const binary *number, sinter__java_digits *out)
{
    const int bits = DOUBLE_BITS - __builtin_ctzll(number->bits);
    const int spare = number->exponent - number->significant - 1;

    *out = (sinter__java_digits){.count = 0};
    if (number->exponent > WHOLE_EXPONENT_MAX || number->exponent < WHOLE_EXPONENT_MIN ||
        bits - number->exponent - 1 > 0) {
        divide(number, out);
        return;
    }
    print_whole(number->exponent >= DOUBLE_BITS - 1
                    ? number->bits << (number->exponent - (DOUBLE_BITS - 1))
                    : number->bits >> (DOUBLE_BITS - 1 - number->exponent),
                insignificant_digits(spare), out);
}

/* Numbers of either form: so many bits below an exponent of so many above the bias. */
static void
take_bits(uint64_t mantissa, int exponent, int form_bits, int bias, sinter__java_digits *out)
{
    binary number = {.significant = form_bits, .exponent = exponent - bias};
    int zeros = 0;

    if (exponent == 0 && mantissa == 0) {
        *out = (sinter__java_digits){.text = "0", .count = 1};
        return;
    }
    number.bits = mantissa << (DOUBLE_BITS - form_bits);
    if (exponent == 0) {
        zeros = __builtin_clzll(number.bits) - (LONG_BITS - DOUBLE_BITS);
        number.bits <<= zeros;
        number.exponent = 1 - zeros - bias;
        number.significant = form_bits - zeros;
    } else {
        number.bits |= UINT64_C(1) << (DOUBLE_BITS - 1);
    }
    take_apart(&number, out);
}

void
sinter__java_float_digits(uint32_t bits, sinter__java_digits *out)
{
    take_bits(bits & 0x7fffff, (int)(bits >> (FLOAT_BITS - 1) & 0xff), FLOAT_BITS, FLOAT_BIAS, out);
}

void
sinter__java_double_digits(uint64_t bits, sinter__java_digits *out)
{
    take_bits(bits & ((UINT64_C(1) << (DOUBLE_BITS - 1)) - 1),
              (int)(bits >> (DOUBLE_BITS - 1) & 0x7ff), DOUBLE_BITS, DOUBLE_BIAS, out);
}
